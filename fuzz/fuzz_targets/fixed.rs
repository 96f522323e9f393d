//! The same "random" bytes in every run, for the keys of hash tables in Rust's library: the order of a table decides
//! which branches an input takes. Nothing in a fuzz target needs real entropy.

/// Takes the place of the C library's function.
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
