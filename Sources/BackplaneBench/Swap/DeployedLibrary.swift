import Backplane
import BackplaneProcesses

/// A library as one deploys it: without debug information.
enum DeployedLibrary {
    /// - Throws: also where there is no `strip`, with what brings it.
    static func make(of library: String, at path: String) throws(BackplaneError) {
        let process: SpawnedProcess
        do throws(BackplaneError) {
            process = try SpawnedProcess("strip", ["--strip-debug", "-o", path, library], descriptors: [], group: .ours)
        } catch {
            throw BackplaneError(
                .componentFailed, "a plugin is swapped as one deploys it, without debug information; install `strip` (package `binutils`), which takes it out",
                at: library, causes: [error])
        }
        guard let ending = process.wait(), ending == .exit(0) else {
            throw BackplaneError(.componentFailed, "`strip` did not take the debug information out of the library", at: library)
        }
    }
}
