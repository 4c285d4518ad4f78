import Testing

@testable import BackplaneTools

/// What SwiftPM prints of a Package.swift that it cannot read.
struct ManifestOutputTests {
    private let command = #"error: 'a': Invalid manifest (compiled with: ["/usr/bin/swiftc", "-o", "/tmp/a-manifest"])"#
    private let end = #"error: invalid manifests at [<AbsolutePath:"/home/ada/a">]"#

    @Test func `the compiler's lines stay as they are, and what SwiftPM did goes`() {
        let said = [
            "/a/Package.swift:1:1: error: no", "1 | oops", "  | `- error: no", "",
            "/a/Package.swift:2:1: error: no more",
        ]
        #expect(
            ManifestOutput.lines(
                of: ["Another instance of SwiftPM (PID: 7) is already running", command, ""] + said + ["", end]) == said
        )
    }

    @Test func `what SwiftPM says itself stays`() {
        let said = "error: 'a': package 'a' is using Swift tools version 9.5.0 but the installed version is 6.3.1"
        #expect(ManifestOutput.lines(of: [said, end]) == [said])
    }

    @Test func `where nothing else is said all of it is`() {
        #expect(ManifestOutput.lines(of: [command, end]) == [command, end])
        #expect(ManifestOutput.lines(of: []) == [])
    }
}
