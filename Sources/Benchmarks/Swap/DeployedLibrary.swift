import Backplane
import BackplaneTools

/// A library as distributions deploy it, without debug information and unneeded symbols.
enum DeployedLibrary {
    /// Copies a library without the parts that `strip --strip-unneeded` removes.
    ///
    /// - Throws: `component.failed`, including if `strip` is not installed.
    static func make(of library: String, at path: String) throws(BackplaneError) {
        let process: SpawnedProcess
        do throws(BackplaneError) {
            process = try SpawnedProcess(
                "strip", ["--strip-unneeded", "-o", path, library], descriptors: [], group: .ours)
        } catch {
            throw BackplaneError(
                .componentFailed,
                "plugins are measured as they are deployed, without debug information; to remove it, install `strip` (package `binutils`)",
                at: library, causes: [error])
        }
        guard let ending = process.wait(), ending == .exit(0) else {
            throw BackplaneError(
                .componentFailed, "`strip` did not remove the debug information from the library", at: library)
        }
    }
}
