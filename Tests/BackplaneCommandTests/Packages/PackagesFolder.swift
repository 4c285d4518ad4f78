import Foundation
import TestFixtures

/// The folder where packages that depend on this one are written, beside a checkout of it as a reader has one.
///
/// All are built in one folder, which is found again by the next run: what they have in common is compiled once. The
/// suites that use it run one after the other.
struct PackagesFolder {
    let path = BuiltProducts.folder + "/Packages"
    var checkout: String { path + "/backplane" }
    var scratchPath: String { path + "/.build" }
    /// Where programs and libraries are, once they are built.
    var built: String { scratchPath + "/debug" }
    /// Where a shell finds `swift` and `backplane` first.
    private var commands: String { path + "/bin" }
    private let files = FileManager.default

    /// - Parameter kept: packages that are written already and may be found as they are; all others are removed.
    init(keeping kept: String...) throws {
        try files.createDirectory(atPath: path, withIntermediateDirectories: true)
        for name in try files.contentsOfDirectory(atPath: path)
        where ![".build", "headers"].contains(name) && !kept.contains(name) {
            try files.removeItem(atPath: path + "/" + name)
        }
        try makeCheckout()
        try makeCommands()
        try forgetStaleBuild()
    }

    /// This package, whose files are the real ones, in folders that something can be put into; and what was built of
    /// it.
    private func makeCheckout() throws {
        for part in ["Plugins", "Tests", "manifests"] {
            try files.createDirectory(atPath: "\(checkout)/\(part)", withIntermediateDirectories: true)
            for name in try files.contentsOfDirectory(atPath: Page.root.appending(path: part).path)
            where part != "manifests" {
                try link("\(checkout)/\(part)/\(name)", to: Page.root.appending(path: "\(part)/\(name)").path)
            }
        }
        try link(checkout + "/Sources", to: Page.root.appending(path: "Sources").path)
        try files.copyItem(
            at: Page.root.appending(path: "Package.swift"), to: URL(filePath: checkout + "/Package.swift"))
        try files.createDirectory(atPath: checkout + "/.build", withIntermediateDirectories: true)
        try link(checkout + "/.build/debug", to: BuiltProducts.folder)
    }

    /// The commands as a reader enters them: a package is built in the common folder, to which its own is a link, with
    /// a plan of its own; and what is made new depends on the checkout here.
    private func makeCommands() throws {
        try files.createDirectory(atPath: commands, withIntermediateDirectories: true)
        try write(
            "swift",
            """
            package=.
            [ "$2" = --package-path ] && package=$3
            [ -e "$package/Package.swift" ] && [ ! -e "$package/.build" ] && ln -s ../.build "$package/.build"
            PATH='\(Self.searchPath)'
            case "$1" in build | test | run)
                command=$1
                shift
                exec swift "$command" --scratch-path '\(scratchPath)' --disable-build-manifest-caching "$@" ;;
            esac
            exec swift "$@"
            """)
        try write(
            "backplane",
            """
            case "$1 $2" in "new app" | "new package") exec '\(BuiltProducts.folder)/backplane' "$@" --backplane '\(checkout)' ;; esac
            exec '\(BuiltProducts.folder)/backplane' "$@"
            """)
    }

    private static let searchPath = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"

    private func write(_ command: String, _ lines: String) throws {
        try Data("#!/bin/sh\n\(lines)\n".utf8).write(to: URL(filePath: "\(commands)/\(command)"))
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(commands)/\(command)")
    }

    private func link(_ path: String, to target: String) throws {
        try files.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    /// A build that fetched other packages has failed its test, and SwiftPM compiles no Swift again after a change of a
    /// C header.
    private func forgetStaleBuild() throws {
        let headers = Page.root.appending(path: "Sources/CBackplane/include"), kept = path + "/headers"
        guard
            !fetched().allSatisfy({ $0 == "swift-argument-parser" })
                || !files.contentsEqual(atPath: headers.path, andPath: kept)
        else { return }
        for stale in [scratchPath, kept] where files.fileExists(atPath: stale) { try files.removeItem(atPath: stale) }
        // SwiftPM makes none at the end of a link.
        try files.createDirectory(atPath: scratchPath, withIntermediateDirectories: true)
        try files.copyItem(at: headers, to: URL(filePath: kept))
    }

    /// The packages that SwiftPM has fetched.
    func fetched() -> [String] { (try? files.contentsOfDirectory(atPath: "\(scratchPath)/checkouts")) ?? [] }

    /// What finds the commands here first.
    var environment: [String: String] { ["PATH": "\(commands):\(Self.searchPath)"] }

    /// The same, where only SwiftPM's cache can be fetched from: through a proxy that nobody serves, and without git's
    /// other protocols.
    var environmentWithoutNetwork: [String: String] {
        let nobody = "http://127.0.0.1:9"
        return environment.merging([
            "GIT_ALLOW_PROTOCOL": "file", "http_proxy": nobody, "https_proxy": nobody, "all_proxy": nobody,
        ]) { $1 }
    }
}
