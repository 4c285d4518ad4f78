import Backplane
import BackplaneProcesses

/// A library as distributions deploy it: without debug information and without symbols that nothing links to.
enum DeployedLibrary {
    /// Copies a library without what `strip --strip-unneeded` removes.
    ///
    /// - Throws: `component.failed`, also if `strip` is not installed.
    static func make(of library: String, at path: String) throws(BackplaneError) {
        let process: SpawnedProcess
        do throws(BackplaneError) {
            process = try SpawnedProcess(
                "strip", ["--strip-unneeded", "-o", path, library], descriptors: [], group: .ours)
        } catch {
            throw BackplaneError(
                .componentFailed,
                "a plugin is swapped as one deploys it, without debug information; install `strip` (package `binutils`), which takes it out",
                at: library, causes: [error])
        }
        guard let ending = process.wait(), ending == .exit(0) else {
            throw BackplaneError(
                .componentFailed, "`strip` did not take the debug information out of the library", at: library)
        }
    }
}
