import Foundation

/// The compiler of Rust, where there is one: the plugin in Rust is built by it while the tests run.
package enum RustCompiler {
    /// Its path; `nil`: it is neither in `PATH` nor where `rustup` puts it.
    package static let path: String? = {
        let environment = ProcessInfo.processInfo.environment
        let folders =
            (environment["PATH"] ?? "").split(separator: ":").map(String.init)
            + [environment["CARGO_HOME"].map { $0 + "/bin" }, environment["HOME"].map { $0 + "/.cargo/bin" }]
            .compactMap(\.self)
        return folders.map { $0 + "/rustc" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// What a test says that is skipped without it.
    package static let isMissing =
        "rustc is not installed: it is neither in PATH nor in $CARGO_HOME/bin or ~/.cargo/bin"

    /// The options that make a plugin, warnings being errors.
    package static let options = ["--edition", "2021", "--crate-type", "cdylib", "-D", "warnings", "-O"]

    /// The source of the plugin in Rust.
    package static let tally = Page.root.appending(path: "Tests/Plugins/Tally/tally.rs").path
}
