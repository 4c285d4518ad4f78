import Backplane
import BackplaneHost
import FoundationEssentials

/// Where SwiftPM looks for the sources of targets that do not say where they are.
extension PackageFacts {
    /// From the top of the package on.
    package func folder(of target: Target, in root: String) -> String {
        if let path = target.path { return path.isEmpty ? "." : path }
        let holder = holder(of: target.kind, in: root), own = FilePath.join(holder, target.name)
        // The only one of its kind may have all of it.
        let isAlone = toolsVersion >= Self.relaxed && targets.count { $0.kind == target.kind } == 1
        return isAlone && !FileManager.default.fileExists(atPath: FilePath.join(root, own)) ? holder : own
    }

    /// The folder that targets have theirs in: the first that is there, or else the first.
    package func holder(of kind: Target.Kind, in root: String) -> String {
        let sources = ["Sources", "Source", "src", "srcs"]
        let names = switch kind {
        case .source: sources
        case .test: ["Tests"] + sources
        case .plugin: ["Plugins"]
        }
        return names.first { Self.isFolder(FilePath.join(root, $0)) } ?? names[0]
    }

    /// The same for targets that are new: of tests in a folder of sources there are some already.
    package func newHolder(of kind: Target.Kind, in root: String) -> String {
        let isUsed = targets.contains { $0.kind == kind && $0.path == nil }
        return isUsed || kind != .test ? holder(of: kind, in: root) : "Tests"
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
    }

    /// Since when the only target needs no folder of its own.
    private static let relaxed = Version(5, 9)
}

extension PackageFacts.Target {
    /// What SwiftPM has folders for. Its own plugins are none of ours.
    package enum Kind: Sendable, Hashable {
        case source, test, plugin
    }

    package var kind: Kind {
        switch type {
        case "test": .test
        case "plugin": .plugin
        default: .source
        }
    }
}
