//! The same surroundings in every run: what depends on chance, on time or on threads would decide which branches an
//! input takes, and so which inputs come next. Nothing in a fuzz target needs real entropy.

use std::hash::{DefaultHasher, Hasher};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Once, OnceLock};

use libc::{c_int, c_long, clockid_t, timespec};

/// Takes the place of the C library's function. Keys of hash tables in Rust's library come from it.
///
/// # Safety
///
/// As there: `buffer` has room for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut u8, length: usize, _flags: u32) -> isize {
    // SAFETY: the caller says so.
    unsafe { std::ptr::write_bytes(buffer, 0x5a, length) };
    length.cast_signed()
}

/// Takes the place of the C library's function. Where a run has to repeat (`fuzz/run TARGET runs=N`), each call is a
/// microsecond after the last one. Otherwise the clock is the machine's, which limits of time need.
///
/// # Safety
///
/// As there: `time` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    static CALLS: AtomicI64 = AtomicI64::new(0);
    if !repeats() {
        // SAFETY: the arguments are those of the system's call.
        return unsafe { libc::syscall(libc::SYS_clock_gettime, c_long::from(clock), time) }
            as c_int;
    }
    let microseconds = CALLS.fetch_add(1, Ordering::Relaxed);
    let now = timespec {
        tv_sec: 1_700_000_000 + microseconds / 1_000_000,
        tv_nsec: microseconds % 1_000_000 * 1000,
    };
    // SAFETY: the caller says so.
    unsafe { time.write(now) };
    0
}

fn repeats() -> bool {
    static REPEATS: OnceLock<bool> = OnceLock::new();
    // SAFETY: the name ends with a zero. Rust's own function could ask for the time or for memory.
    *REPEATS.get_or_init(|| !unsafe { libc::getenv(c"FACEDP_FUZZ_REPEATS".as_ptr()) }.is_null())
}

/// Adds an input to the hash of all inputs, which a run that has to repeat prints at its end.
pub fn executes(input: &[u8]) {
    static HASH: AtomicU64 = AtomicU64::new(0);
    static AT_END: Once = Once::new();
    extern "C" fn print() {
        eprintln!("executed inputs: {:016x}", HASH.load(Ordering::Relaxed));
    }
    if repeats() {
        let mut hash = DefaultHasher::new();
        hash.write_u64(HASH.load(Ordering::Relaxed));
        hash.write(input);
        HASH.store(hash.finish(), Ordering::Relaxed);
        // SAFETY: `print` can be called at any time.
        AT_END.call_once(|| assert_eq!(unsafe { libc::atexit(print) }, 0));
    }
}
