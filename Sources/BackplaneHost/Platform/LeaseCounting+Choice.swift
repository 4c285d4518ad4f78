import Backplane
import Glibc

extension LeaseCounting {
    /// The best method that this system supports, determined once per process because the kernel has one registration
    /// for it.
    static let best: LeaseCounting = isWatchedForRaces || !systemCanRestart() ? .atomic : .restartable

    /// A Boolean value that indicates whether ThreadSanitizer is active.
    ///
    /// It does not support restartable sequences, and reports them as races.
    private static var isWatchedForRaces: Bool { dlsym(nil, "__tsan_init") != nil }
}
