/* Escapes and formats texts for people. */
#include "sys/print.h"
#include "base/attr.h"
#include "base/printable.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static void print_escaped(FILE *to, struct str s, const char *allowed)
{
	while (s.n) {
		unsigned n = printable_length(s);
		if (!n && s.p[0] && strchr(allowed, s.p[0]))
			n = 1;
		if (n)
			fwrite(s.p, 1, n, to);
		else
			fprintf(to, "\\x%02x", (unsigned char)s.p[0]);
		/* Of a character that may not be shown, the other bytes are not valid by themselves, so they
		 * are escaped, too. */
		s = str_from(s, n ? n : 1);
	}
}

void print_text(FILE *to, struct str s)
{
	print_escaped(to, s, "");
}

size_t print_width(struct str s)
{
	size_t width = 0;
	while (s.n) {
		unsigned n = printable_length(s);
		width += n ? 1 : 4;
		s = str_from(s, n ? n : 1);
	}
	return width;
}

void print_lines(FILE *to, struct str s)
{
	print_escaped(to, s, "\n\t");
}

void print_indented(FILE *to, struct str s, unsigned indent)
{
	struct str line;
	for (bool first = true; str_line(&s, &line); first = false) {
		if (!first)
			fprintf(to, "\n%*s", (int)indent, "");
		print_text(to, line);
	}
}

void print_for_program(FILE *to, struct str s)
{
	if (isatty(fileno(to)))
		print_lines(to, s);
	else
		fwrite(s.p, 1, s.n, to);
}

void print_json(FILE *to, struct str s)
{
	while (s.n) {
		const unsigned char *u = (const unsigned char *)s.p;
		unsigned n = utf8_length(s);
		uint32_t c = n == 2   ? (u[0] & 0x1Fu) << 6 | (u[1] & 0x3Fu)
			     : n == 3 ? (u[0] & 0x0Fu) << 12 | (u[1] & 0x3Fu) << 6 | (u[2] & 0x3Fu)
				      : u[0];
		if (n < 4 && n && c >= 0x7F && !printable_length(s))
			fprintf(to, "\\u%04x", c);
		else if (n == 4 && !printable_length(s)) /* U+E00xx */
			fprintf(to, "\\udb40\\udc%02x", (u[2] & 1u) << 6 | (u[3] & 0x3Fu));
		else if (!n && u[0] >= 0x7F) /* not UTF-8 */
			fprintf(to, "\\ufffd");
		else
			fwrite(s.p, 1, n ? n : 1, to);
		s = str_from(s, n ? n : 1);
	}
}

/* --- formats --- */

/* One directive of a format. */
struct directive {
	char text[16]; /* for fprintf: whole numbers as long long, width and precision as stars */
	int width, precision;
	bool left;
	char length, type; /* length: 0, 'l', 'L' for ll, 'z' */
};

static int read_number(const char **p, va_list *ap)
{
	int n = 0;
	if (**p == '*') {
		(*p)++;
		return va_arg(*ap, int);
	}
	for (; is_digit(**p); (*p)++)
		n = 10 * n + (**p - '0');
	return n;
}

/* Reads what follows a %, and leaves *p behind it. */
static struct directive read_directive(const char **p, va_list *ap)
{
	struct directive d = { .precision = -1 };
	char flags[4] = "";
	unsigned n = 0;
	for (; **p && strchr("-0+", **p) && n < sizeof flags - 1; (*p)++)
		flags[n++] = **p;
	d.left = strchr(flags, '-') != NULL;
	d.width = read_number(p, ap);
	if (**p == '.') {
		(*p)++;
		d.precision = read_number(p, ap);
	}
	if (**p == 'l' || **p == 'z')
		d.length = *(*p)++;
	if (d.length == 'l' && **p == 'l') {
		d.length = 'L';
		(*p)++;
	}
	d.type = *(*p)++;
	/* A precision of -1 counts as none. */
	snprintf(d.text, sizeof d.text, "%%%s*.*%s%c", flags, d.type == 'g' ? "" : "ll", d.type);
	return d;
}

static void print_string(FILE *to, const struct directive *d, const char *s)
{
	if (!s)
		s = "-";
	struct str text = { s, d->precision >= 0 ? strnlen(s, (size_t)d->precision) : strlen(s) };
	size_t width = print_width(text);
	int pad = d->width > (int)width ? d->width - (int)width : 0;
	fprintf(to, "%*s", d->left ? 0 : pad, "");
	print_text(to, text);
	fprintf(to, "%*s", d->left ? pad : 0, "");
}

/* A whole number of the directive's length. Signed and unsigned ones have the same bits. */
static long long read_integer(const struct directive *d, va_list *ap)
{
	long long n = d->length == 'L'   ? va_arg(*ap, long long)
		      : d->length == 'l' ? va_arg(*ap, long)
		      : d->length == 'z' ? (long long)va_arg(*ap, size_t)
					 : va_arg(*ap, int);
	return !d->length && d->type != 'd' ? (long long)(unsigned)n : n;
}

/* The compiler has checked the formats, because print() is printf_like. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void print_directive(FILE *to, const struct directive *d, va_list *ap)
{
	switch (d->type) {
	case '%':
		fputc('%', to);
		return;
	case 's':
		print_string(to, d, va_arg(*ap, const char *));
		return;
	case 'c':
		print_text(to, (struct str){ (const char[]){ (char)va_arg(*ap, int) }, 1 });
		return;
	case 'g':
		fprintf(to, d->text, d->width, d->precision, va_arg(*ap, double));
		return;
	case 'd':
	case 'u':
	case 'x':
		fprintf(to, d->text, d->width, d->precision, read_integer(d, ap));
		return;
	default:
		assert(!"a directive that print() does not have");
	}
}
#pragma GCC diagnostic pop

void print(FILE *to, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	while (*format) {
		const char *percent = strchr(format, '%');
		size_t n = percent ? (size_t)(percent - format) : strlen(format);
		fwrite(format, 1, n, to);
		format += n;
		if (!*format)
			break;
		format++;
		struct directive d = read_directive(&format, &ap);
		print_directive(to, &d, &ap);
	}
	va_end(ap);
}
