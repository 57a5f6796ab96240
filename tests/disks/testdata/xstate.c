// Preloaded into Debian's linux.uml 6.1, this lets it start on processors with AMX. Its kernel has room for 2,696 bytes
// of the registers that ptrace calls XSTATE, and the host takes no less than all of its own, 11,008. What is beyond is
// left as it is at the start of a process: tiles are for processes that ask for them, and no guest's does.

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	header = 512,        // where the bits of the parts in use are
	header_end = 576,
	without_tiles = 0x3ff
};

static unsigned char state[65536] __attribute__((aligned(64)));
static struct iovec whole = {state, 0}; // as large as the host's

static void drop_tiles(unsigned char *registers)
{
	uint64_t parts;
	memcpy(&parts, registers + header, sizeof parts);
	parts &= without_tiles;
	memcpy(registers + header, &parts, sizeof parts);
}

static long get_whole(long pid)
{
	whole.iov_len = sizeof state;
	return syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_X86_XSTATE, &whole);
}

long ptrace(enum __ptrace_request request, ...)
{
	va_list list;
	va_start(list, request);
	long pid = va_arg(list, int);
	void *addr = va_arg(list, void *), *data = va_arg(list, void *);
	va_end(list);

	if (request > 0 && request < 4) { // PEEK: the system call stores a word, the function returns it
		long word, failed = syscall(SYS_ptrace, request, pid, addr, &word);
		if (failed)
			return failed;
		errno = 0;
		return word;
	}
	if ((request != PTRACE_GETREGSET && request != PTRACE_SETREGSET) || (long)addr != NT_X86_XSTATE)
		return syscall(SYS_ptrace, request, pid, addr, data);

	if ((request == PTRACE_GETREGSET || !whole.iov_len) && get_whole(pid) < 0)
		return -1;
	struct iovec *asked = data;
	size_t n = asked->iov_len < whole.iov_len ? asked->iov_len : whole.iov_len;
	int less = n < whole.iov_len && n >= header_end;
	if (request == PTRACE_GETREGSET) {
		memcpy(asked->iov_base, state, n);
		asked->iov_len = n;
		if (less)
			drop_tiles(asked->iov_base);
		return 0;
	}
	memcpy(state, asked->iov_base, n);
	memset(state + n, 0, whole.iov_len - n);
	if (less)
		drop_tiles(state);
	return syscall(SYS_ptrace, request, pid, addr, &whole);
}
