#pragma once
/* The proleptic Gregorian calendar. Pure arithmetic; days count from 1970-01-01, years are astronomical. */
#include "base/attr.h"
#include "base/time.h"

#define DAY INT64_C(86400)

struct date {
	int32_t year;
	uint8_t month, day; /* 1-12, 1-31 */
};

static inline bool is_leap(int32_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static inline unsigned month_days(int32_t year, unsigned month)
{
	assert(month >= 1 && month <= 12);
	static const uint8_t days[13] = { 0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	return days[month] + (month == 2 && is_leap(year));
}

/* Counts years from 1 March, so that the leap day comes last and the lengths of months follow a formula. */
static inline int64_t days_of(int32_t year, unsigned month, unsigned day)
{
	int64_t y = (int64_t)year - (month <= 2);
	int64_t era = floor_div(y, 400);
	unsigned yoe = (unsigned)(y - era * 400);
	unsigned doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	return era * 146097 + (int64_t)(yoe * 365 + yoe / 4 - yoe / 100 + doy) - 719468;
}

static inline struct date date_of(int64_t days)
{
	int64_t z = days + 719468;
	int64_t era = floor_div(z, 146097);
	unsigned doe = (unsigned)(z - era * 146097);
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned mp = (5 * doy + 2) / 153;
	unsigned month = mp < 10 ? mp + 3 : mp - 9;
	return (struct date){ .year = (int32_t)(era * 400 + yoe) + (month <= 2),
			      .month = (uint8_t)month,
			      .day = (uint8_t)(doy - (153 * mp + 2) / 5 + 1) };
}

/* `days` moved by `months`; a day that the month does not have becomes the month's last day. */
static inline int64_t add_months(int64_t days, int64_t months)
{
	struct date d = date_of(days);
	months += d.year * INT64_C(12) + d.month - 1;
	int32_t year = (int32_t)floor_div(months, 12);
	unsigned month = (unsigned)(months - year * INT64_C(12)) + 1, last = month_days(year, month);
	return days_of(year, month, d.day < last ? d.day : last);
}

/* 0 is Sunday. */
static inline unsigned weekday_of(int64_t days)
{
	int64_t w = (days + 4) % 7;
	return (unsigned)(w < 0 ? w + 7 : w);
}

/* Seconds since 1970-01-01T00:00:00 of a local (or UTC) time. */
static inline int64_t seconds_of(int32_t year, unsigned month, unsigned day, unsigned hour, unsigned minute,
				 unsigned second)
{
	return days_of(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
}

/* The first and the last second that rota can represent. */
#define SECONDS_MIN INT64_C(-62135596800) /* 0001-01-01T00:00:00Z */
#define SECONDS_MAX INT64_C(253402300799) /* 9999-12-31T23:59:59Z */
