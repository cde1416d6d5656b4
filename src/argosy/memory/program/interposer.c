/* Tells of every large allocation of the program that it is loaded into, by LD_PRELOAD.
 *
 * Each event is one line, its fields apart by tabs, appended to the file $ARGOSY_EVENTS:
 *   H  load bias  mailbox  seconds             first of all
 *   A  address  nbytes  seconds  frames...     allocated: malloc, calloc, aligned ones, mmap
 *   R  old  address  nbytes  seconds  frames   moved or resized: realloc
 *   F  address  nbytes  seconds                freed; 0 bytes: all that begins there
 * A frame is `path+offset` in the file at that path; the program itself has an empty path.
 *
 * Around each line but the first, bytes of the mailbox are written: [0] before, [1] after, [2] after if there is no line. A
 * trace of all memory accesses shows these stores, and so says where among the accesses the event belongs, and which
 * accesses are not the program's own. Only the process whose program is $ARGOSY_PROGRAM speaks: not
 * valgrind's launcher, not forked children; and programs that it starts do not inherit the variables.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#define LEAST 4096
#define FRAMES 12
#define MODULES 512
#define LINE 8192

static volatile char mailbox[64] __attribute__((aligned(64)));
static int events = -1;
static pid_t speaker;
static unsigned long own_begin, own_end;
static __thread int busy __attribute__((tls_model("initial-exec")));

static char early[4096] __attribute__((aligned(64)));
static size_t early_used;

#define REAL(result, name, ...)                                  \
    static result (*real_##name)(__VA_ARGS__);                   \
    static void find_##name(void) {                              \
        if (!real_##name) real_##name = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name); \
    }
REAL(void *, malloc, size_t)
REAL(void *, calloc, size_t, size_t)
REAL(void *, realloc, void *, size_t)
REAL(void, free, void *)
REAL(int, posix_memalign, void **, size_t, size_t)
REAL(void *, aligned_alloc, size_t, size_t)
REAL(void *, memalign, size_t, size_t)
REAL(void *, mmap, void *, size_t, int, int, int, off_t)
REAL(void *, mmap64, void *, size_t, int, int, int, off_t)
REAL(int, munmap, void *, size_t)

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

/* Where machine code is loaded. dladdr would search all symbols of a file for every frame, which is slow in a trace. */
struct module {
    unsigned long begin, end, bias;
    const char *path;
};
static struct module modules[MODULES];
static int num_modules;

static int add_module(struct dl_phdr_info *info, size_t nbytes, void *argument) {
    (void)nbytes, (void)argument;
    unsigned long begin = -1UL, end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        unsigned long first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (first < begin) begin = first;
        if (first + info->dlpi_phdr[i].p_memsz > end) end = first + info->dlpi_phdr[i].p_memsz;
    }
    if (num_modules < MODULES) {
        struct module module = {begin, end, info->dlpi_addr, info->dlpi_name};
        modules[num_modules++] = module;
    }
    return 0;
}

static const struct module *find_module(unsigned long at) {
    for (int attempt = 0; attempt < 2; attempt++) {
        for (int i = 0; i < num_modules; i++)
            if (at >= modules[i].begin && at < modules[i].end) return &modules[i];
        if (attempt == 0) {
            num_modules = 0;
            dl_iterate_phdr(add_module, NULL);
        }
    }
    return NULL;
}

struct walk {
    char *line;
    int used;
    int frames;
};

static _Unwind_Reason_Code one_frame(struct _Unwind_Context *context, void *argument) {
    struct walk *walk = argument;
    unsigned long at = _Unwind_GetIP(context);
    const struct module *module = at ? find_module(at) : NULL;
    if (!module || (at >= own_begin && at < own_end)) return _URC_NO_REASON;
    int room = LINE - walk->used;
    int wrote = snprintf(walk->line + walk->used, room, "\t%s+%lx", module->path, at - 1 - module->bias);
    if (wrote >= room) return _URC_END_OF_STACK;
    walk->used += wrote;
    return ++walk->frames < FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void tell(char *line, int used, int with_frames) {
    if (with_frames) {
        struct walk walk = {line, used, 0};
        _Unwind_Backtrace(one_frame, &walk);
        used = walk.used;
    }
    if (used >= LINE) used = LINE - 1;
    line[used++] = '\n';
    mailbox[write(events, line, used) == used ? 1 : 2] = 1;
}

static int may_tell(void) { return events >= 0 && !busy && getpid() == speaker; }

static void allocated(void *address, size_t nbytes) {
    if (!address || nbytes < LEAST || !may_tell()) return;
    int kept = errno;
    char line[LINE + 1];
    busy = 1;
    mailbox[0] = 1;
    tell(line, snprintf(line, LINE, "A\t%lx\t%lx\t%.9f", (unsigned long)address, (unsigned long)nbytes, seconds()), 1);
    busy = 0;
    errno = kept;
}

static void freed(void *address, size_t nbytes) {
    if (!may_tell()) return;
    int kept = errno;
    char line[LINE + 1];
    busy = 1;
    mailbox[0] = 1;
    tell(line, snprintf(line, LINE, "F\t%lx\t%lx\t%.9f", (unsigned long)address, (unsigned long)nbytes, seconds()), 0);
    busy = 0;
    errno = kept;
}

static int is_early(void *address) { return (char *)address >= early && (char *)address < early + sizeof early; }

void *malloc(size_t nbytes) {
    find_malloc();
    void *address = real_malloc(nbytes);
    allocated(address, nbytes);
    return address;
}

void *calloc(size_t count, size_t each) {
    static __thread int finding __attribute__((tls_model("initial-exec")));
    if (!real_calloc) {
        /* dlsym itself may ask for a little zeroed memory while it looks for calloc */
        if (finding) {
            size_t nbytes = (count * each + 63) / 64 * 64;
            if (early_used + nbytes > sizeof early) return NULL;
            early_used += nbytes;
            return early + early_used - nbytes;
        }
        finding = 1;
        find_calloc();
        finding = 0;
    }
    void *address = real_calloc(count, each);
    allocated(address, count * each);
    return address;
}

void free(void *address) {
    if (!address || is_early(address)) return;
    find_free();
    if (may_tell() && malloc_usable_size(address) >= LEAST) freed(address, 0);
    real_free(address);
}

void *realloc(void *old, size_t nbytes) {
    find_realloc();
    if (is_early(old)) {
        size_t there = early + sizeof early - (char *)old;
        void *copy = malloc(nbytes);
        return copy ? memcpy(copy, old, nbytes < there ? nbytes : there) : NULL;
    }
    int was_large = old && may_tell() && malloc_usable_size(old) >= LEAST;
    void *address = real_realloc(old, nbytes);
    if (!may_tell()) return address;
    if (address && nbytes >= LEAST) {
        int kept = errno;
        char line[LINE + 1];
        busy = 1;
    mailbox[0] = 1;
        tell(line,
             snprintf(line, LINE, "R\t%lx\t%lx\t%lx\t%.9f", (unsigned long)old, (unsigned long)address,
                      (unsigned long)nbytes, seconds()),
             1);
        busy = 0;
        errno = kept;
    } else if (was_large && (address || nbytes == 0)) {
        freed(old, 0);
    }
    return address;
}

int posix_memalign(void **address, size_t alignment, size_t nbytes) {
    find_posix_memalign();
    int status = real_posix_memalign(address, alignment, nbytes);
    if (status == 0) allocated(*address, nbytes);
    return status;
}

void *aligned_alloc(size_t alignment, size_t nbytes) {
    find_aligned_alloc();
    void *address = real_aligned_alloc(alignment, nbytes);
    allocated(address, nbytes);
    return address;
}

void *memalign(size_t alignment, size_t nbytes) {
    find_memalign();
    void *address = real_memalign(alignment, nbytes);
    allocated(address, nbytes);
    return address;
}

void *mmap(void *wanted, size_t nbytes, int protection, int flags, int file, off_t offset) {
    find_mmap();
    void *address = real_mmap(wanted, nbytes, protection, flags, file, offset);
    if (address != MAP_FAILED) allocated(address, nbytes);
    return address;
}

void *mmap64(void *wanted, size_t nbytes, int protection, int flags, int file, off_t offset) {
    find_mmap64();
    void *address = real_mmap64(wanted, nbytes, protection, flags, file, offset);
    if (address != MAP_FAILED) allocated(address, nbytes);
    return address;
}

int munmap(void *address, size_t nbytes) {
    find_munmap();
    int status = real_munmap(address, nbytes);
    if (status == 0) freed(address, nbytes);
    return status;
}

/* Programs that this one starts run as if it had not been here. */
static void leave_environment(const char *own) {
    char *listed = getenv("LD_PRELOAD");
    char *at = listed ? strstr(listed, own) : NULL;
    if (at) {
        size_t length = strlen(own);
        if (at[length] == ':' || at[length] == ' ') length++;
        else if (at > listed) at--, length++;
        memmove(at, at + length, strlen(at + length) + 1);
        if (!*listed) unsetenv("LD_PRELOAD");
    }
    unsetenv("ARGOSY_EVENTS");
    unsetenv("ARGOSY_PROGRAM");
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("ARGOSY_EVENTS"), *program = getenv("ARGOSY_PROGRAM");
    char running[4096];
    ssize_t length = readlink("/proc/self/exe", running, sizeof running - 1);
    if (!path || !program || length < 0) return;
    running[length] = 0;
    if (strcmp(running, program) != 0) return;
    const struct module *own = find_module((unsigned long)begin);
    if (!own) return;
    own_begin = own->begin;
    own_end = own->end;
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0) return;
    char line[LINE + 1];
    int used = snprintf(line, LINE, "H\t%lx\t%lx\t%.9f\n", modules[0].bias, (unsigned long)&mailbox[0], seconds());
    leave_environment(own->path);
    if (write(file, line, used) != used) return;
    speaker = getpid();
    events = file;
}
