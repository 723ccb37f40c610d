/* For LD_PRELOAD: a machine with wrong clocks and failing disks. The file $HOSTILE holds its state as a
 * struct machine; it is mapped, so that changes take effect at once.
 *
 * A step of the wall clock cancels timers with TFD_TIMER_CANCEL_ON_SET, as in the kernel. */
#undef _FILE_OFFSET_BITS /* both families of functions are replaced, under their own names */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct machine {
	_Atomic int64_t wall;   /* offset of the wall clock, in microseconds */
	_Atomic int64_t asleep; /* simulated time of suspension in microseconds; it is added to the wall clock
				   and to CLOCK_BOOTTIME */
	/* Errno with which every change of a file below $HOSTILE_DIR fails; 0: none fails. */
	_Atomic int32_t write;
	_Atomic int32_t read; /* errno with which every read of such a file fails; 0: none fails */
	/* The store's disk hangs: reads, writes and flushes of its files wait for the lock on $HOSTILE. */
	_Atomic int32_t hang; /* enum hang */
};

enum hang { HANG_NOT, HANG_ALL, HANG_OPERATIONS /* only those of the operations thread */ };

enum { FDS = 1024 }; /* descriptors of timers are below this */

static struct machine healthy, *machine = &healthy;
static const char *directory;
static size_t directory_length;

/* How each timer was last set, and whether it was cancelled. */
static struct timer {
	atomic_bool is_set, is_wall, cancelled;
	int flags;
	struct itimerspec at;
} timers[FDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&(name)))real(#name))

static void *real(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);
	if (!p)
		abort();
	return p;
}

/* --- clocks --- */

static void shift(struct timespec *t, int64_t us)
{
	int64_t ns = t->tv_nsec + us % 1000000 * 1000;
	t->tv_sec += us / 1000000 + (ns < 0 ? -1 : ns / 1000000000);
	t->tv_nsec = ns < 0 ? ns + 1000000000 : ns % 1000000000;
}

static int64_t clock_offset(clockid_t clock)
{
	bool counts = clock == CLOCK_BOOTTIME || clock == CLOCK_BOOTTIME_ALARM;
	bool wall =
		clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_REALTIME_ALARM;
	return (wall ? machine->wall : 0) + (wall || counts ? machine->asleep : 0);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, t);
	if (rc == 0)
		shift(t, clock_offset(clock));
	return rc;
}

time_t time(time_t *ret)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	if (ret)
		*ret = t.tv_sec;
	return t.tv_sec;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec t;
	(void)zone;
	clock_gettime(CLOCK_REALTIME, &t);
	*tv = (struct timeval){ t.tv_sec, t.tv_nsec / 1000 };
	return 0;
}

static int set_timer(int fd, int flags, struct itimerspec at, struct itimerspec *old)
{
	int64_t by =
		fd < FDS && timers[fd].is_wall ? clock_offset(CLOCK_REALTIME) : clock_offset(CLOCK_BOOTTIME);
	if (flags & TFD_TIMER_ABSTIME && (at.it_value.tv_sec || at.it_value.tv_nsec)) {
		shift(&at.it_value, -by);
		if (at.it_value.tv_sec < 0)
			at.it_value = (struct timespec){ 0, 1 };
	}
	return (int)syscall(SYS_timerfd_settime, fd, flags, &at, old);
}

int timerfd_create(int clock, int flags)
{
	int fd = REAL(timerfd_create)(clock, flags);
	if (fd >= 0 && fd < FDS)
		timers[fd].is_wall = clock == CLOCK_REALTIME;
	return fd;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *old)
{
	pthread_mutex_lock(&lock);
	if (fd < FDS) {
		timers[fd].at = *at;
		timers[fd].flags = flags;
		timers[fd].is_set = true;
	}
	int rc = set_timer(fd, flags, *at, old);
	pthread_mutex_unlock(&lock);
	return rc;
}

/* Adjusts timers as the kernel does when the clock is set, and after a suspension. */
static void *adjust_timers(void *arg)
{
	int64_t wall = machine->wall, asleep = machine->asleep;
	(void)arg;
	for (;; usleep(5000)) {
		bool stepped = machine->wall != wall, slept = machine->asleep != asleep;
		wall = machine->wall;
		asleep = machine->asleep;
		pthread_mutex_lock(&lock);
		for (int fd = 0; fd < FDS && (stepped || slept); fd++) {
			struct timer *t = &timers[fd];
			bool cancels = stepped && t->is_wall && t->flags & TFD_TIMER_CANCEL_ON_SET;
			if (cancels)
				t->cancelled = true;
			if (t->is_set && cancels)
				set_timer(fd, 0, (struct itimerspec){ .it_value = { 0, 1 } }, NULL);
			else if (t->is_set && t->flags & TFD_TIMER_ABSTIME)
				set_timer(fd, t->flags, t->at, NULL);
		}
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* --- files --- */

static bool is_hostile(const char *path)
{
	return directory_length && !strncmp(path, directory, directory_length);
}

static bool path_fails(const char *path, int error)
{
	if (!error || !is_hostile(path))
		return false;
	errno = error;
	return true;
}

static bool fd_fails(int fd, int error)
{
	char link[32], path[4096];
	if (!error)
		return false;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	return path_fails(path, error);
}

static void wait_while_hanging(int fd)
{
	char link[40], path[512], name[16] = "";
	int32_t hang = machine->hang;
	if (hang == HANG_NOT || !directory)
		return;
	prctl(PR_GET_NAME, name);
	if (hang == HANG_OPERATIONS && strcmp(name, "operations") != 0)
		return;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	if (strncmp(path, directory, directory_length) || strncmp(path + directory_length, "/rota.db", 8))
		return;
	int held = (int)syscall(SYS_openat, AT_FDCWD, getenv("HOSTILE"), O_RDONLY | O_CLOEXEC, 0);
	while (held >= 0 && syscall(SYS_flock, held, LOCK_SH) != 0)
		continue;
	if (held >= 0)
		syscall(SYS_close, held);
}

/* Whether an access to the file fails now; waits first while the disk hangs. */
static bool access_fails(int fd, int error)
{
	wait_while_hanging(fd);
	return fd_fails(fd, error);
}

ssize_t read(int fd, void *p, size_t n)
{
	if (fd >= 0 && fd < FDS && timers[fd].is_wall && atomic_exchange(&timers[fd].cancelled, false)) {
		syscall(SYS_read, fd, p, n);
		errno = ECANCELED;
		return -1;
	}
	return access_fails(fd, machine->read) ? -1 : syscall(SYS_read, fd, p, n);
}

ssize_t pread64(int fd, void *p, size_t n, off64_t at)
{
	return access_fails(fd, machine->read) ? -1 : syscall(SYS_pread64, fd, p, n, at);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	return pread64(fd, p, n, at);
}

ssize_t write(int fd, const void *p, size_t n)
{
	return access_fails(fd, machine->write) ? -1 : syscall(SYS_write, fd, p, n);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	return access_fails(fd, machine->write) ? -1 : syscall(SYS_pwrite64, fd, p, n, at);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	return pwrite64(fd, p, n, at);
}

int ftruncate64(int fd, off64_t n)
{
	return access_fails(fd, machine->write) ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}

int ftruncate(int fd, off_t n)
{
	return ftruncate64(fd, n);
}

int fsync(int fd)
{
	return access_fails(fd, machine->write) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return access_fails(fd, machine->write) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int fallocate(int fd, int mode, off_t at, off_t n)
{
	return access_fails(fd, machine->write) ? -1 : (int)syscall(SYS_fallocate, fd, mode, at, n);
}

int mkdir(const char *path, mode_t mode)
{
	bool there = access(path, F_OK) == 0; /* the kernel checks for EEXIST first */
	return !there && path_fails(path, machine->write) ? -1
							  : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int unlink(const char *path)
{
	return path_fails(path, machine->write) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* A full disk refuses new files; a read-only disk also refuses to open files for writing. */
static int open_path(const char *path, int flags, mode_t mode)
{
	bool makes = flags & O_CREAT && access(path, F_OK) != 0;
	bool writes = (flags & O_ACCMODE) != O_RDONLY && machine->write == EROFS;
	return path_fails(path, makes || writes ? machine->write : 0)
		       ? -1
		       : (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

#define OPEN(name)                                                                                           \
	int name(const char *path, int flags, ...)                                                           \
	{                                                                                                    \
		va_list ap;                                                                                  \
		va_start(ap, flags);                                                                         \
		mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;                        \
		va_end(ap);                                                                                  \
		return open_path(path, flags, mode);                                                         \
	}
OPEN(open)
OPEN(open64)

__attribute__((constructor)) static void map_machine(void)
{
	const char *path = getenv("HOSTILE"), *dir = getenv("HOSTILE_DIR");
	int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0) : -1;
	void *p =
		fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *machine, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return;
	machine = p;
	directory = dir;
	directory_length = dir ? strlen(dir) : 0;
	/* Only the daemon has timers to adjust, so only the daemon gets the thread. */
	char self[64] = "";
	int comm = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/comm", O_RDONLY | O_CLOEXEC, 0);
	if (comm >= 0) {
		syscall(SYS_read, comm, self, sizeof self - 1);
		close(comm);
	}
	pthread_t thread;
	sigset_t all, before;
	if (strcmp(self, "rota\n"))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&thread, NULL, adjust_timers, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
