// A CUDA driver in front of another one, the fake or the system's, that goes wrong at the n-th call:
//
//   FAIL   that call returns a status, and is not made
//   LOSE   so do all calls after it
//   HANG   that call and all after it return only once they are released, and are made then
//   STALL  calls are made, but from then on nothing that was queued comes to its end: who asks is told "not ready", who waits hangs
//
// SHIM_DRIVER names the library behind it; without, it is libcuda.so.1.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS(X) \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) X(cuDeviceGet) X(cuDeviceGetCount) \
  X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem_v2) X(cuDevicePrimaryCtxRetain) \
  X(cuDevicePrimaryCtxRelease_v2) X(cuDevicePrimaryCtxSetFlags_v2) X(cuCtxSetCurrent) X(cuCtxGetCurrent) \
  X(cuCtxSynchronize) X(cuModuleLoadDataEx) X(cuModuleUnload) X(cuModuleGetFunction) X(cuFuncSetAttribute) \
  X(cuFuncGetAttribute) X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuLaunchKernel) X(cuMemAlloc_v2) \
  X(cuMemFree_v2) X(cuMemGetInfo_v2) X(cuMemHostAlloc) X(cuMemFreeHost) X(cuMemHostRegister_v2) \
  X(cuMemHostUnregister) X(cuMemcpyHtoD_v2) X(cuMemcpyDtoH_v2) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoHAsync_v2) \
  X(cuMemcpyDtoDAsync_v2) X(cuMemsetD8Async) X(cuMemsetD32Async) X(cuStreamCreate) X(cuStreamDestroy_v2) \
  X(cuStreamSynchronize) X(cuStreamQuery) X(cuStreamWaitEvent) X(cuEventCreate) X(cuEventDestroy_v2) \
  X(cuEventRecord) X(cuEventQuery) X(cuEventSynchronize) X(cuEventElapsedTime)

typedef long word;
enum { FAIL = 1, LOSE, HANG, STALL };
enum { NOT_INITIALIZED = 3, NOT_READY = 600 };
#define X(name) INDEX_##name,
enum { CALLS(X) COUNT };
#undef X
#define X(name) #name,
static const char *const names[] = {CALLS(X)};
#undef X

typedef int called(word, word, word, word, word, word, word, word, word, word, word);
static called *behind[COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long count, nth;
static int mode, status, waiting, under_way;

__attribute__((constructor)) static void find(void) {
  const char *name = getenv("SHIM_DRIVER");
  void *library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "shim: %s\n", dlerror());
  for (int i = 0; library && i < COUNT; i++) *(void **)&behind[i] = dlsym(library, names[i]);
}

static int asks(int i) { return i == INDEX_cuEventQuery || i == INDEX_cuStreamQuery; }
static int waits(int i) { return i == INDEX_cuEventSynchronize || i == INDEX_cuStreamSynchronize || i == INDEX_cuCtxSynchronize; }
static int explains(int i) { return i == INDEX_cuGetErrorName || i == INDEX_cuGetErrorString; }

// admit returns 0 for a call to be made, or its status.
static int admit(int i) {
  if (explains(i)) return 0;
  pthread_mutex_lock(&lock);
  long number = ++count;
  int refused = 0;
  if (mode == FAIL && number == nth) refused = status;
  if (mode == LOSE && number >= nth) refused = status;
  if (mode == STALL && number >= nth && asks(i)) refused = NOT_READY;
  waiting++;
  while ((mode == HANG || (mode == STALL && waits(i))) && nth && number >= nth) pthread_cond_wait(&changed, &lock);
  waiting--;
  pthread_mutex_unlock(&lock);
  return refused;
}

static void enter(int by) {
  pthread_mutex_lock(&lock);
  under_way += by;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

#define X(name) \
  int name(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k) { \
    enter(1); \
    int result = admit(INDEX_##name); \
    if (!result) result = behind[INDEX_##name] ? behind[INDEX_##name](a, b, c, d, e, f, g, h, i, j, k) : NOT_INITIALIZED; \
    enter(-1); \
    return result; \
  }
CALLS(X)

// shim_arm makes the n-th call from now on go wrong; calls that hang are released. No mode: none does, and all
// calls have returned, or 10 s have passed: what a test leaves behind reaches no other test.
void shim_arm(int how, long n, int with) {
  pthread_mutex_lock(&lock);
  mode = how, nth = n, status = with, count = 0;
  pthread_cond_broadcast(&changed);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 10;
  while (!how && under_way && !pthread_cond_timedwait(&changed, &lock, &until)) {}
  pthread_mutex_unlock(&lock);
}

// shim_calls is how many calls there were since; shim_waiting, how many of them hang.
long shim_calls(void) {
  pthread_mutex_lock(&lock);
  long n = count;
  pthread_mutex_unlock(&lock);
  return n;
}
int shim_waiting(void) {
  pthread_mutex_lock(&lock);
  int n = waiting;
  pthread_mutex_unlock(&lock);
  return n;
}
