import Foundation
import Glibc
import TestFixtures
import Testing

extension Tool {
    /// Starts `backplane run` in a mount namespace of its own, after a command that mounts something there.
    ///
    /// The test is cancelled where it may not mount.
    func startRun(_ manifest: String, after mounting: String) async throws -> RunningTool {
        let namespace = geteuid() == 0 ? ["-m"] : ["-m", "-r"]
        let probe = try RunningTool(
            namespace + ["mount", "-t", "tmpfs", "none", folder], of: "/usr/bin/unshare", input: nil)
        guard await probe.end().status == 0 else {
            try Test.cancel("the right to mount in a namespace is needed")
        }
        let running = try RunningTool(
            namespace + [
                "sh", "-ec", mounting + #"; exec "$@""#, "sh", BuiltProducts.folder + "/backplane", "run", manifest,
            ]
                + ["--data", data, "--load-folder", loads], of: "/usr/bin/unshare", input: nil,
            environment: ["XDG_RUNTIME_DIR": folder])
        try #require(await running.says("up;"), "\(running.output)\(running.errors)")
        return running
    }
}
