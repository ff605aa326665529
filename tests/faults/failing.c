/* Fails the n-th call of one kind on files below one folder. trials.py preloads it.

   A write that fails for want of room may first write half, as on a full disk. Calls are counted
   in all threads; a child process that is started anew counts none, because nothing is armed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NONE, OPEN, WRITE, SYNC, NAME, READ, KINDS };
enum { FOLLOWING = 1, HALF = 2 };

static char folder[PATH_MAX];
static int armed, fails_with, manner, halved;
static long wanted, seen[KINDS];

void fail_at(const char *below, int kind, long n, int error, int how) {
    snprintf(folder, sizeof folder, "%s/", below);
    memset(seen, 0, sizeof seen);
    wanted = n, fails_with = error, manner = how, halved = 0, armed = kind;
}

long calls_seen(int kind) { return seen[kind]; }

static int is_below(const char *path) {
    char whole[PATH_MAX];
    if (!path || !armed) return 0;
    if (path[0] != '/') {
        if (!getcwd(whole, sizeof whole)) return 0;
        strncat(whole, "/", sizeof whole - strlen(whole) - 1);
        return !strncmp(whole, folder, strlen(folder));
    }
    return !strncmp(path, folder, strlen(folder));
}

static int is_ours(int descriptor) {
    char link[64], path[PATH_MAX];
    if (!armed) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return is_below(path);
}

/* Count this call; return whether it fails. */
static int due(int kind) {
    if (!armed) return 0;
    long number = __atomic_add_fetch(&seen[kind], 1, __ATOMIC_SEQ_CST);
    if (kind != armed) return 0;
    if (number != wanted && !(number > wanted && wanted && (manner & FOLLOWING || halved))) return 0;
    halved = 0;
    errno = fails_with;
    return 1;
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define OPENING(name, before, given, place) \
    int name(before const char *path, int flags, ...) { \
        REAL(name); \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        if (is_below(path) && due(OPEN)) return -1; \
        return real(given path, flags, mode); \
    }
#define NOTHING
#define AT int at,
#define GIVEN at,
OPENING(open, NOTHING, NOTHING, path)
OPENING(open64, NOTHING, NOTHING, path)
OPENING(openat, AT, GIVEN, path)
OPENING(openat64, AT, GIVEN, path)

#define WRITING(name, parameters, call, half) \
    ssize_t name parameters { \
        REAL(name); \
        if (is_ours(descriptor) && due(WRITE)) { \
            if (!(manner & HALF) || seen[WRITE] != wanted || size < 2) return -1; \
            halved = 1, size /= 2; \
            return real half; \
        } \
        return real call; \
    }
#define PLAIN (int descriptor, const void *from, size_t size)
#define PLACED (int descriptor, const void *from, size_t size, off_t at)
#define PLACED64 (int descriptor, const void *from, size_t size, off64_t at)
WRITING(write, PLAIN, (descriptor, from, size), (descriptor, from, size))
WRITING(pwrite, PLACED, (descriptor, from, size, at), (descriptor, from, size, at))
WRITING(pwrite64, PLACED64, (descriptor, from, size, at), (descriptor, from, size, at))

#define CALL(type, name, parameters, ours, kind, call) \
    type name parameters { \
        REAL(name); \
        if (ours && due(kind)) return -1; \
        return real call; \
    }
#define TWO (const char *from, const char *to)
#define TWO_AT (int at, const char *from, int other, const char *to)
CALL(ssize_t, writev, (int d, const struct iovec *from, int n), is_ours(d), WRITE, (d, from, n))
CALL(int, ftruncate, (int d, off_t size), is_ours(d), WRITE, (d, size))
CALL(int, ftruncate64, (int d, off64_t size), is_ours(d), WRITE, (d, size))
CALL(ssize_t, sendfile, (int d, int from, off_t *at, size_t n), is_ours(d), WRITE, (d, from, at, n))
CALL(ssize_t, sendfile64, (int d, int from, off64_t *at, size_t n), is_ours(d), WRITE,
     (d, from, at, n))
CALL(ssize_t, copy_file_range,
     (int from, off64_t *at, int d, off64_t *to, size_t n, unsigned flags), is_ours(d), WRITE,
     (from, at, d, to, n, flags))
CALL(int, fsync, (int d), is_ours(d), SYNC, (d))
CALL(int, fdatasync, (int d), is_ours(d), SYNC, (d))
CALL(int, rename, TWO, is_below(to), NAME, (from, to))
CALL(int, link, TWO, is_below(to), NAME, (from, to))
CALL(int, renameat, TWO_AT, is_below(to), NAME, (at, from, other, to))
CALL(int, linkat, (int at, const char *from, int other, const char *to, int flags), is_below(to),
     NAME, (at, from, other, to, flags))
CALL(int, mkdir, (const char *to, mode_t mode), is_below(to), NAME, (to, mode))
CALL(int, mkdirat, (int at, const char *to, mode_t mode), is_below(to), NAME, (at, to, mode))
CALL(int, unlink, (const char *from), is_below(from), NAME, (from))
CALL(int, unlinkat, (int at, const char *from, int flags), is_below(from), NAME, (at, from, flags))
CALL(ssize_t, read, (int d, void *to, size_t n), is_ours(d), READ, (d, to, n))
CALL(ssize_t, pread, (int d, void *to, size_t n, off_t at), is_ours(d), READ, (d, to, n, at))
CALL(ssize_t, pread64, (int d, void *to, size_t n, off64_t at), is_ours(d), READ, (d, to, n, at))
