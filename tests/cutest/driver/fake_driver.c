// A CUDA driver without a device, for tests of the Go side. It is stricter than a real one, and as late as a real one may be:
//
//   - Device memory is malloc'ed, filled with rubbish, and guarded at both ends. Every range that a copy, fill or launch names
//     must lie within one allocation. Host memory of asynchronous copies must be pinned.
//   - Work on a stream is done only once somebody waits for it or asks after it (one piece a question). Who reads a result
//     before, or writes to a buffer again too soon, gets rubbish for certain.
//   - Every call that needs a context current on its thread fails without one.
//   - A kernel called NAME is run as the C function NAME_host of a second library (FAKE_CUDA_KERNELS or fake_kernels), if there
//     is one: void NAME_host(const void *params, unsigned gx, gy, gz, bx, by, bz, shared). Without it launches are recorded only.
//
// What went wrong without a status to tell it by is kept in fake_faults; what is still there, in fake_leaks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int R;
typedef uint64_t P;
typedef void host_kernel(const void *params, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                         unsigned shared);

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_CONTEXT = 201,
       INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, MISALIGNED = 716 };
enum { GUARD = 256, RUBBISH = 0xCB, DEVICES = 16, TEXT = 1 << 16 };

// Memory that the device can reach.
enum kind { DEVICE, PINNED };
typedef struct memory { struct memory *next; enum kind kind; P start; size_t size; } memory;

// Contexts are one a device.
typedef struct { int device, retained, earlier; } context; // earlier: retained before a reset

typedef struct event { struct event *next; unsigned flags; int live; struct stream *stream; uint64_t recorded, done; double at_ms;
                       context *context; } event;
typedef struct module { struct module *next; int live; char *image; } module;
typedef struct function { struct function *next; char *name; module *module; int dynamic_shared; host_kernel *host; } function;

typedef struct work {
    struct work *next;
    enum { COPY, FILL8, LAUNCH, RECORD, WAIT } what;
    P destination, source; size_t size; uint32_t value;
    event *event; uint64_t mark; struct stream *other;       // RECORD, WAIT: the event's record of that number, on other
    function *function; unsigned shape[7]; void *params;     // LAUNCH
} work;
typedef struct stream { struct stream *next; unsigned flags; int live; work *first, **last; context *context; } stream;

static pthread_mutex_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread context *current;

static int initialized, devices = 1;
static size_t total_memory = 256 << 20;
static context contexts[DEVICES];
static memory *memories;
static memory *earlier; // pinned memory of before a reset: a program may hold it for longer than its test
static stream *streams;
static event *events;
static module *modules;
static function *functions;
static void *kernels;
static char faults[TEXT], launches[TEXT], leaks[TEXT];

// Injected: the nth call from now on, of that name or of any, returns status. Lost: so do all after it.
static char fail_name[64];
static int fail_in, fail_status, fail_lost, dead;

static struct { char name[64]; long count; } calls[64];

static void setup(void) {
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &recursive);
    if (getenv("FAKE_CUDA_DEVICES")) devices = atoi(getenv("FAKE_CUDA_DEVICES"));
    if (devices > DEVICES) devices = DEVICES;
    if (getenv("FAKE_CUDA_MEMORY")) total_memory = strtoull(getenv("FAKE_CUDA_MEMORY"), NULL, 10);
    if (getenv("FAKE_CUDA_KERNELS")) kernels = dlopen(getenv("FAKE_CUDA_KERNELS"), RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < DEVICES; i++) contexts[i].device = i;
}
static void hold(void) { pthread_once(&once, setup); pthread_mutex_lock(&lock); }
static R leave(R status) { pthread_mutex_unlock(&lock); return status; }

static void append(char *text, const char *format, ...) {
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, TEXT - used, format, args);
    va_end(args);
}
#define fault(...) append(faults, __VA_ARGS__)

static void count(const char *name) {
    for (int i = 0; i < 64; i++) {
        if (!calls[i].name[0]) snprintf(calls[i].name, sizeof calls[i].name, "%s", name);
        if (!strcmp(calls[i].name, name)) { calls[i].count++; return; }
    }
}

// admit takes the lock and tells whether a call may go on; otherwise its status.
static R admit(const char *name, int needs_context) {
    hold();
    count(name);
    if (dead) return dead;
    if (fail_in > 0 && (!fail_name[0] || !strcmp(fail_name, name)) && --fail_in == 0) {
        if (fail_lost) dead = fail_status;
        return fail_status;
    }
    if (!initialized) return NOT_INITIALIZED;
    if (needs_context && (!current || !(current->retained + current->earlier))) { fault("%s: no context is current on this thread\n", name); return INVALID_CONTEXT; }
    return 0;
}
#define ENTER(needs_context) do { R refused = admit(__func__, needs_context); if (refused) return leave(refused); } while (0)
enum { NO_CONTEXT = 0, CONTEXT = 1 };

// --- memory ---------------------------------------------------------------------------------------------------------------

static memory *memory_of(P address) {
    for (memory *m = memories; m; m = m->next)
        if (address >= m->start && address < m->start + m->size) return m;
    return NULL;
}
// within tells whether a range lies in one allocation of the device, or that the device can reach.
static int within(P address, size_t size, int device) {
    memory *m = memory_of(address);
    return m && (m->kind == DEVICE) == device && size <= m->start + m->size - address;
}
static size_t used_memory(void) {
    size_t used = 0;
    for (memory *m = memories; m; m = m->next) if (m->kind == DEVICE) used += m->size;
    return used;
}
static P allocate(size_t size, enum kind kind) {
    char *block = aligned_alloc(256, (size + 255) / 256 * 256 + 2 * GUARD);
    if (!block) return 0;
    memset(block, RUBBISH, size + 2 * GUARD);
    memory *m = malloc(sizeof *m);
    *m = (memory){memories, kind, (P)(block + GUARD), size};
    memories = m;
    return m->start;
}
static void check_guards(memory *m) {
    const unsigned char *before = (unsigned char *)m->start - GUARD, *after = (unsigned char *)m->start + m->size;
    for (int i = 0; i < GUARD; i++)
        if (before[i] != RUBBISH || after[i] != RUBBISH) {
            fault("written outside an allocation of %zu bytes, at %lld\n", m->size,
                  before[i] != RUBBISH ? (long long)i - GUARD : (long long)m->size + i);
            return;
        }
}
static memory *take(memory **list, P address, enum kind kind) {
    for (memory **at = list; *at; at = &(*at)->next) {
        memory *m = *at;
        if (m->start != address || m->kind != kind) continue;
        *at = m->next;
        return m;
    }
    return NULL;
}
static R release(P address, enum kind kind, const char *name) {
    memory *m = take(&memories, address, kind);
    if (!m) m = take(&earlier, address, kind);
    if (m) {
        check_guards(m);
        free((char *)m->start - GUARD);
        free(m);
        return 0;
    }
    fault("%s: no such allocation, or freed before\n", name);
    return INVALID_VALUE;
}

// --- streams --------------------------------------------------------------------------------------------------------------

static void run_to(stream *s, event *e, uint64_t mark);

static void perform(work *w) {
    switch (w->what) {
    case COPY: memmove((void *)w->destination, (void *)w->source, w->size); break;
    case FILL8: memset((void *)w->destination, (int)w->value, w->size); break;
    case LAUNCH: {
        const unsigned *s = w->shape;
        if (w->function->host) w->function->host(w->params, s[0], s[1], s[2], s[3], s[4], s[5], s[6]);
        free(w->params);
        break;
    }
    case RECORD: {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        w->event->at_ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
        if (w->mark > w->event->done) w->event->done = w->mark;
        break;
    }
    case WAIT: if (w->event->done < w->mark) run_to(w->other, w->event, w->mark); break;
    }
}
static void run_one(stream *s) {
    work *w = s->first;
    s->first = w->next;
    if (!s->first) s->last = &s->first;
    perform(w);
    free(w);
}
static void run_to(stream *s, event *e, uint64_t mark) { while (s->first && e->done < mark) run_one(s); }
static void run(stream *s) { while (s->first) run_one(s); }
static void run_all(int blocking_only) {
    for (stream *s = streams; s; s = s->next) if (!blocking_only || !(s->flags & 1)) run(s);
}
// put queues work. The default stream waits for those that are not non-blocking, and does its work at once.
static void put(stream *s, work w) {
    work *copy = malloc(sizeof w);
    *copy = w;
    copy->next = NULL;
    if (!s) {
        run_all(1);
        perform(copy);
        free(copy);
        return;
    }
    *s->last = copy;
    s->last = &copy->next;
}
static int usable(stream *s, const char *name) {
    if (!s) return 1;
    for (stream *other = streams; other; other = other->next)
        if (other == s && s->live && s->context == current) return 1;
    fault("%s: no such stream in this context, or destroyed\n", name);
    return 0;
}
static int usable_event(event *e, const char *name) {
    for (event *other = events; other; other = other->next)
        if (other == e && e->live && e->context == current) return 1;
    fault("%s: no such event in this context, or destroyed\n", name);
    return 0;
}

// --- the driver's interface: start, devices, contexts ----------------------------------------------------------------------

R cuInit(unsigned flags) {
    hold();
    count("cuInit");
    if (fail_in > 0 && !strcmp(fail_name, "cuInit") && --fail_in == 0) return leave(fail_status);
    if (flags) return leave(INVALID_VALUE);
    if (getenv("FAKE_CUDA_INIT")) return leave(atoi(getenv("FAKE_CUDA_INIT")));
    initialized = 1;
    return leave(0);
}
R cuDriverGetVersion(int *version) { *version = 13000; return 0; }

static const struct { int status; const char *name, *text; } statuses[] = {
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {MISALIGNED, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
};
static R describe(int status, const char **text, int which) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status) { *text = which ? statuses[i].text : statuses[i].name; return 0; }
    *text = NULL;
    return INVALID_VALUE;
}
R cuGetErrorName(int status, const char **text) { return describe(status, text, 0); }
R cuGetErrorString(int status, const char **text) { return describe(status, text, 1); }

R cuDeviceGetCount(int *n) { ENTER(NO_CONTEXT); *n = devices; return leave(0); }
R cuDeviceGet(int *device, int ordinal) {
    ENTER(NO_CONTEXT);
    if (ordinal < 0 || ordinal >= devices) return leave(INVALID_DEVICE);
    *device = ordinal;
    return leave(0);
}
#define KNOWN(device) do { if ((device) < 0 || (device) >= devices) return leave(INVALID_DEVICE); } while (0)
R cuDeviceGetName(char *name, int size, int device) {
    ENTER(NO_CONTEXT); KNOWN(device);
    snprintf(name, (size_t)size, "Fake device %d", device);
    return leave(0);
}
R cuDeviceGetAttribute(int *value, int attribute, int device) {
    ENTER(NO_CONTEXT); KNOWN(device);
    switch (attribute) {
    case 1: *value = 1024; break;          // threads a block
    case 8: *value = 48 << 10; break;      // shared memory a block
    case 10: *value = 32; break;           // warp
    case 12: *value = 64 << 10; break;     // registers a block
    case 13: case 36: *value = 1000000; break;
    case 16: *value = 4; break;            // multiprocessors
    case 37: *value = 64; break;
    case 38: *value = 1 << 20; break;
    case 39: *value = 2048; break;
    case 40: *value = 2; break;
    case 41: *value = 1; break;
    case 75: *value = 9; break;            // compute capability
    case 81: *value = 228 << 10; break;
    case 97: *value = 227 << 10; break;
    default: *value = 0;
    }
    return leave(0);
}
R cuDeviceTotalMem_v2(size_t *size, int device) { ENTER(NO_CONTEXT); KNOWN(device); *size = total_memory; return leave(0); }

R cuDevicePrimaryCtxRetain(context **c, int device) {
    ENTER(NO_CONTEXT); KNOWN(device);
    contexts[device].retained++;
    *c = &contexts[device];
    return leave(0);
}
R cuDevicePrimaryCtxRelease_v2(int device) {
    ENTER(NO_CONTEXT); KNOWN(device);
    int *retained = contexts[device].retained ? &contexts[device].retained : &contexts[device].earlier;
    if (!*retained) { fault("cuDevicePrimaryCtxRelease: not retained\n"); return leave(INVALID_CONTEXT); }
    --*retained;
    return leave(0);
}
R cuCtxSetCurrent(context *c) { ENTER(NO_CONTEXT); current = c; return leave(0); }

// --- modules and launches -------------------------------------------------------------------------------------------------

R cuModuleLoadDataEx(module **out, const char *image, unsigned options, const int *keys, void **values) {
    ENTER(CONTEXT);
    if (memcmp(image, "\x7f" "ELF", 4) && !strstr(image, ".version")) {
        for (unsigned i = 0; i + 1 < options; i++)
            if (keys[i] == 5 && keys[i + 1] == 6) snprintf(values[i], (size_t)values[i + 1], "line 1: this is no PTX");
        return leave(INVALID_PTX);
    }
    module *m = malloc(sizeof *m);
    *m = (module){modules, 1, strdup(image)};
    modules = m;
    *out = m;
    return leave(0);
}
R cuModuleUnload(module *m) {
    ENTER(CONTEXT);
    if (!m || !m->live) { fault("cuModuleUnload: no such module, or unloaded before\n"); return leave(INVALID_HANDLE); }
    run_all(0);
    m->live = 0;
    return leave(0);
}
static int has_entry(const char *image, const char *name) {
    size_t length = strlen(name);
    for (const char *at = image; (at = strstr(at, ".entry ")); ) {
        at += strlen(".entry ");
        if (!strncmp(at, name, length) && !strchr("_$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", at[length] ? at[length] : 'x')) return 1;
    }
    return 0;
}
R cuModuleGetFunction(function **out, module *m, const char *name) {
    ENTER(CONTEXT);
    if (!m || !m->live) { fault("cuModuleGetFunction: the module is unloaded\n"); return leave(INVALID_HANDLE); }
    char symbol[256];
    snprintf(symbol, sizeof symbol, "%s_host", name);
    host_kernel *host = NULL;
    if (kernels) *(void **)&host = dlsym(kernels, symbol);
    if ((kernels && !host) || (m->image[0] == '.' || m->image[0] == '/' ? !has_entry(m->image, name) : 0)) return leave(NOT_FOUND);
    function *f = malloc(sizeof *f);
    *f = (function){functions, strdup(name), m, 48 << 10, host};
    functions = f;
    *out = f;
    return leave(0);
}
R cuFuncGetAttribute(int *value, int attribute, function *f) {
    ENTER(CONTEXT);
    *value = attribute == 0 ? 1024 : attribute == 4 ? 32 : attribute == 8 ? f->dynamic_shared : 0;
    return leave(0);
}
R cuFuncSetAttribute(function *f, int attribute, int value) {
    ENTER(CONTEXT);
    if (value < 0 || (attribute == 8 && value > 227 << 10)) return leave(INVALID_VALUE);
    if (attribute == 8) f->dynamic_shared = value;
    return leave(0);
}
R cuLaunchKernel(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, stream *s,
                 void **params, void **extra) {
    ENTER(CONTEXT);
    if (!usable(s, "cuLaunchKernel") || !f->module->live) return leave(INVALID_HANDLE);
    if (!gx || !gy || !gz || gx > 0x7fffffff || gy > 65535 || gz > 65535 || !bx || !by || !bz || bx > 1024 || by > 1024 || bz > 64 ||
        (uint64_t)bx * by * bz > 1024 || shared > (unsigned)f->dynamic_shared) {
        fault("cuLaunchKernel %s: grid %u %u %u, block %u %u %u, %u bytes shared: not possible\n", f->name, gx, gy, gz, bx, by, bz, shared);
        return leave(INVALID_VALUE);
    }
    if (params || !extra || extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4]) return leave(INVALID_VALUE);
    size_t size = *(size_t *)extra[3];
    if (size > 4096) return leave(INVALID_VALUE);
    uint64_t *copy = calloc(size / 8 + 1, 8);
    memcpy(copy, extra[1], size);
    for (size_t i = 0; i < size / 8; i++) // a parameter that points into memory of the device is taken for an array of 8 byte words
        if (copy[i] % 8 && memory_of(copy[i])) {
            fault("cuLaunchKernel %s: parameter at byte %zu is an address that is no multiple of 8\n", f->name, i * 8);
            free(copy);
            return leave(dead = MISALIGNED);
        }
    append(launches, "%s %u,%u,%u %u,%u,%u %u %zu\n", f->name, gx, gy, gz, bx, by, bz, shared, size);
    put(s, (work){.what = LAUNCH, .function = f, .shape = {gx, gy, gz, bx, by, bz, shared}, .params = copy});
    return leave(0);
}

// --- memory ---------------------------------------------------------------------------------------------------------------

R cuMemAlloc_v2(P *address, size_t size) {
    ENTER(CONTEXT);
    if (!size) return leave(INVALID_VALUE);
    if (size > total_memory || used_memory() > total_memory - size) return leave(OUT_OF_MEMORY);
    return leave((*address = allocate(size, DEVICE)) ? 0 : OUT_OF_MEMORY);
}
R cuMemFree_v2(P address) {
    ENTER(CONTEXT);
    if (!address) return leave(0);
    run_all(0);
    return leave(release(address, DEVICE, "cuMemFree"));
}
R cuMemGetInfo_v2(size_t *available, size_t *total) {
    ENTER(CONTEXT);
    *total = total_memory;
    *available = total_memory - used_memory();
    return leave(0);
}
R cuMemHostAlloc(P *address, size_t size, unsigned flags) {
    ENTER(CONTEXT);
    if (!size || flags > 7) return leave(INVALID_VALUE);
    return leave((*address = allocate(size, PINNED)) ? 0 : OUT_OF_MEMORY);
}
R cuMemFreeHost(P address) { ENTER(CONTEXT); run_all(0); return leave(release(address, PINNED, "cuMemFreeHost")); }

// range complains about a range that is not all in one allocation. Nothing is in any.
static R range(const char *name, P address, size_t size, int device) {
    if (!size || within(address, size, device)) return 0;
    fault("%s: %zu bytes at %#llx are not all in one allocation of %s\n", name, size, (unsigned long long)address,
          device ? "device memory" : "pinned memory");
    return INVALID_VALUE;
}
static R copy_async(const char *name, P destination, int to_device, P source, int from_device, size_t size, stream *s) {
    if (!usable(s, name)) return INVALID_HANDLE;
    if (range(name, destination, size, to_device) || range(name, source, size, from_device)) return INVALID_VALUE;
    put(s, (work){.what = COPY, .destination = destination, .source = source, .size = size});
    return 0;
}
R cuMemcpyHtoDAsync_v2(P destination, P source, size_t size, stream *s) { ENTER(CONTEXT); return leave(copy_async(__func__, destination, 1, source, 0, size, s)); }
R cuMemcpyDtoHAsync_v2(P destination, P source, size_t size, stream *s) { ENTER(CONTEXT); return leave(copy_async(__func__, destination, 0, source, 1, size, s)); }
R cuMemcpyDtoDAsync_v2(P destination, P source, size_t size, stream *s) { ENTER(CONTEXT); return leave(copy_async(__func__, destination, 1, source, 1, size, s)); }
R cuMemsetD8Async(P destination, unsigned char value, size_t n, stream *s) {
    ENTER(CONTEXT);
    if (!usable(s, "cuMemsetD8Async")) return leave(INVALID_HANDLE);
    if (range("cuMemsetD8Async", destination, n, 1)) return leave(INVALID_VALUE);
    put(s, (work){.what = FILL8, .destination = destination, .value = value, .size = n});
    return leave(0);
}

// --- streams and events ---------------------------------------------------------------------------------------------------

R cuStreamCreate(stream **out, unsigned flags) {
    ENTER(CONTEXT);
    stream *s = calloc(1, sizeof *s);
    *s = (stream){.next = streams, .flags = flags, .live = 1, .context = current};
    s->last = &s->first;
    *out = streams = s;
    return leave(0);
}
R cuStreamDestroy_v2(stream *s) {
    ENTER(CONTEXT);
    if (!s || !usable(s, "cuStreamDestroy")) return leave(INVALID_HANDLE);
    run(s);
    s->live = 0;
    return leave(0);
}
R cuStreamSynchronize(stream *s) {
    ENTER(CONTEXT);
    if (!usable(s, "cuStreamSynchronize")) return leave(INVALID_HANDLE);
    if (s) run(s); else run_all(1);
    return leave(0);
}
R cuStreamQuery(stream *s) {
    ENTER(CONTEXT);
    if (!usable(s, "cuStreamQuery")) return leave(INVALID_HANDLE);
    if (!s || !s->first) return leave(0);
    run_one(s);
    return leave(NOT_READY);
}
R cuStreamWaitEvent(stream *s, event *e, unsigned flags) {
    ENTER(CONTEXT);
    if (flags || !usable(s, "cuStreamWaitEvent") || !usable_event(e, "cuStreamWaitEvent")) return leave(INVALID_HANDLE);
    if (e->recorded) put(s, (work){.what = WAIT, .event = e, .mark = e->recorded, .other = e->stream});
    return leave(0);
}
R cuEventCreate(event **out, unsigned flags) {
    ENTER(CONTEXT);
    event *e = calloc(1, sizeof *e);
    *e = (event){.next = events, .flags = flags, .live = 1, .context = current};
    *out = events = e;
    return leave(0);
}
R cuEventDestroy_v2(event *e) {
    ENTER(CONTEXT);
    if (!usable_event(e, "cuEventDestroy")) return leave(INVALID_HANDLE);
    e->live = 0;
    return leave(0);
}
R cuEventRecord(event *e, stream *s) {
    ENTER(CONTEXT);
    if (!usable_event(e, "cuEventRecord") || !usable(s, "cuEventRecord")) return leave(INVALID_HANDLE);
    e->stream = s;
    put(s, (work){.what = RECORD, .event = e, .mark = ++e->recorded});
    return leave(0);
}
R cuEventQuery(event *e) {
    ENTER(CONTEXT);
    if (!usable_event(e, "cuEventQuery")) return leave(INVALID_HANDLE);
    if (e->done == e->recorded) return leave(0);
    run_one(e->stream);
    return leave(NOT_READY);
}
R cuEventSynchronize(event *e) {
    ENTER(CONTEXT);
    if (!usable_event(e, "cuEventSynchronize")) return leave(INVALID_HANDLE);
    if (e->done < e->recorded) run_to(e->stream, e, e->recorded);
    return leave(0);
}
R cuEventElapsedTime(float *ms, event *from, event *to) {
    ENTER(CONTEXT);
    if (!usable_event(from, "cuEventElapsedTime") || !usable_event(to, "cuEventElapsedTime")) return leave(INVALID_HANDLE);
    if (((from->flags | to->flags) & 2) || !from->recorded || !to->recorded) return leave(INVALID_HANDLE);
    if (from->done < from->recorded || to->done < to->recorded) return leave(NOT_READY);
    *ms = (float)(to->at_ms - from->at_ms);
    return leave(0);
}

// --- what tests say and ask -----------------------------------------------------------------------------------------------

// fake_reset ends everything, as if the driver had just been started.
void fake_reset(void) {
    hold();
    for (stream *s = streams; s; s = s->next) while (s->first) { // not performed: what it needs may be gone
        work *w = s->first;
        s->first = w->next;
        if (w->what == LAUNCH) free(w->params);
        free(w);
    }
    while (memories) {
        memory *m = memories;
        if (m->kind != PINNED) {
            release(m->start, m->kind, "");
            continue;
        }
        memories = m->next;
        m->next = earlier;
        earlier = m;
    }
#define DROP(list, also) while (list) { __typeof__(list) item = list; list = item->next; also; free(item); }
    DROP(streams, (void)0)
    DROP(events, (void)0)
    DROP(functions, free(item->name))
    DROP(modules, free(item->image))
    for (int i = 0; i < DEVICES; i++) {
        contexts[i].earlier += contexts[i].retained;
        contexts[i].retained = 0;
    }
    faults[0] = launches[0] = 0;
    memset(calls, 0, sizeof calls);
    dead = fail_in = 0;
    leave(0);
}
void fake_fail(const char *name, int nth, int status, int lost) {
    hold();
    snprintf(fail_name, sizeof fail_name, "%s", name);
    fail_in = nth; fail_status = status; fail_lost = lost;
    leave(0);
}
void fake_memory(size_t total) { hold(); total_memory = total; leave(0); }
void fake_devices(int n) { hold(); devices = n > DEVICES ? DEVICES : n; leave(0); }
long fake_calls(const char *name) {
    hold();
    long n = 0;
    for (int i = 0; i < 64; i++) if (!name[0] || !strcmp(calls[i].name, name)) n += calls[i].count;
    leave(0);
    return n;
}
int fake_kernels(const char *path) {
    hold();
    kernels = path[0] ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    return leave(!path[0] || kernels ? 0 : NOT_FOUND);
}
const char *fake_launches(void) { return launches; }
// fake_faults checks the guards of what is there, too.
const char *fake_faults(void) {
    hold();
    for (memory *m = memories; m; m = m->next) check_guards(m);
    leave(0);
    return faults;
}
void fake_forget(void) { hold(); faults[0] = 0; leave(0); }
const char *fake_leaks(void) {
    static const char *kinds[] = {"device memory", "pinned memory", "registered memory"};
    hold();
    leaks[0] = 0;
    for (memory *m = memories; m; m = m->next) append(leaks, "%s: %zu bytes\n", kinds[m->kind], m->size);
    for (stream *s = streams; s; s = s->next) if (s->live) append(leaks, "a stream\n");
    for (event *e = events; e; e = e->next) if (e->live) append(leaks, "an event\n");
    for (module *m = modules; m; m = m->next) if (m->live) append(leaks, "a module\n");
    for (int i = 0; i < DEVICES; i++) if (contexts[i].retained) append(leaks, "context of device %d\n", i);
    leave(0);
    return leaks;
}
