import Backplane
import Glibc

extension LeaseCounting {
    /// The best this system has, asked once for the process: the kernel knows one registration for all of it.
    static let best: LeaseCounting = isWatchedForRaces || !systemCanRestart() ? .atomic : .restartable

    /// ThreadSanitizer does not see what restartable sequences do, and reports it as a race.
    private static var isWatchedForRaces: Bool { dlsym(nil, "__tsan_init") != nil }
}
