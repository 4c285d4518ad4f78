import Foundation
import TestFixtures

/// Hosts that are given few file descriptors.
struct FewDescriptors: Attack {
    static let name = "descriptors", what = "hosts with 12 to 39 file descriptors", count = 56, share = 10

    private let shortage: Shortage

    init(at site: Site) throws { shortage = try Shortage(at: site) }

    func attempt(_ trial: Int, _ numbers: inout SeededNumbers) throws -> Trial {
        // Each number once for either command.
        try shortage.attempt("-n \(12 + trial / 2 % 28)", stays: trial % 2 == 1, trial)
    }
}

/// Commands that run under a limit of the shell's `ulimit`.
private struct Shortage: Sendable {
    private let site: Site
    private let manifest: String

    init(at site: Site) throws {
        self.site = site
        manifest = Site.package + "/manifests/almanac.json"
    }

    private func options(_ name: String) throws -> [String] {
        let folder = try site.folder(name)
        return ["--plugin-path", HostProcess.built, "--data", folder + "/data", "--load-folder", folder + "/loads"]
    }

    func call(_ limits: String, _ name: String) throws -> HostProcess {
        try HostProcess(
            ["call", manifest, "ClockManager", "now", "--timeout", "10"] + options(name), limits: limits, in: site.path)
    }

    /// Makes a call, or runs a host for a moment.
    func attempt(_ limits: String, stays: Bool, _ trial: Int) throws -> Trial {
        let name = "s\(trial)", subject = "`\(stays ? "run" : "call")` with `ulimit \(limits)`"
        defer { site.remove(site.path + "/" + name) }
        let process: HostProcess
        if stays {
            process = try HostProcess(["run", manifest] + options(name), limits: limits, in: try site.folder(name))
            if process.says("up;") { process.signal(SIGTERM) }
        } else {
            process = try call(limits, name)
        }
        // The system's loader speaks for itself where there is not even room for the program.
        if process.wait() == .exit(127) { return Trial(outcome: "not loaded") }
        // Swift's runtime ends a process whose heap cannot grow. It prints how much was refused, or has no memory left
        // to print it and faults; then the host's handler of signals prints that no memory is left.
        if ["failed to allocate", "has no memory left"].contains(where: process.said.contains) {
            return Trial(outcome: "no memory")
        }
        return Trial(process, subject, input: 0, usual: .max >> 1)
    }
}
