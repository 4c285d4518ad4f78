import Foundation

/// The Rust compiler, which builds the plugin in Rust while the tests run, if it is installed.
package enum RustCompiler {
    /// The path of the compiler; `nil` if it is neither in `PATH` nor in the folder of `rustup`.
    package static let path: String? = {
        let environment = ProcessInfo.processInfo.environment
        let folders =
            (environment["PATH"] ?? "").split(separator: ":").map(String.init)
            + [environment["CARGO_HOME"].map { $0 + "/bin" }, environment["HOME"].map { $0 + "/.cargo/bin" }]
            .compactMap(\.self)
        return folders.map { $0 + "/rustc" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// The comment of tests that are skipped without the compiler.
    package static let isMissing =
        "rustc is not installed: it is neither in PATH nor in $CARGO_HOME/bin or ~/.cargo/bin"

    /// The options for a plugin, with warnings as errors.
    package static let options = ["--edition", "2021", "--crate-type", "cdylib", "-D", "warnings", "-O"]

    /// The source of the plugin in Rust.
    package static let tally = Page.root.appending(path: "Tests/Plugins/Tally/tally.rs").path
}
