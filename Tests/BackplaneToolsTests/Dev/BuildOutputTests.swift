import Testing

@testable import BackplaneTools

/// What `swift build` prints, taken apart.
struct BuildOutputTests {
    @Test(arguments: ["[0/1] Planning build", "[3/7] Compiling Notes Notes.swift", "[12/12] Linking libNotes.so"])
    func `how far it is is progress`(line: String) {
        #expect(BuildOutput.line(line) == .progress(line))
    }

    @Test(arguments: [
        "Building for debugging...", "Build of product 'Notes' complete! (1.25s)", "Build complete! (5.02s)",
        "error: emit-module command failed with exit code 1 (use -v to see invocation)", "error: fatalError",
    ])
    func `what it says in any case is nothing new`(line: String) {
        #expect(BuildOutput.line(line) == .ceremony)
    }

    @Test(arguments: [
        "/app/Sources/Notes/Notes.swift:3:31: error: expected expression after operator", "1 | let a = 1 +",
        "  |            `- error: expected expression",
        "error: no such module 'Backplane'", "", "[nobody] said this",
    ])
    func `everything else is for a person, as it was printed`(line: String) {
        #expect(BuildOutput.line(line) == .text(line))
    }

    @Test func `a diagnostic has a place`() throws {
        let diagnostic = try #require(
            Diagnostic(
                "/app/My Notes/a:b.swift:3:31: warning: initialization of immutable value 'x' was never used [#no-usage]"
            ))
        #expect(diagnostic.severity == "warning")
        #expect(diagnostic.file == "/app/My Notes/a:b.swift")
        #expect((diagnostic.line, diagnostic.column) == (3, 31))
        #expect(diagnostic.message == "initialization of immutable value 'x' was never used [#no-usage]")
    }

    @Test func `an error of the package manager has none`() throws {
        let diagnostic = try #require(
            Diagnostic("error: 'notes': product 'Backplane' required by package 'notes' not found"))
        #expect((diagnostic.file, diagnostic.line) == (nil, nil))
    }

    @Test func `another build in the folder is reported with its process`() throws {
        let line =
            "Another instance of SwiftPM (PID: 4711) is already running using '/app/.build', waiting until that process has finished execution..."
        let obstacle = try #require(BuildOutput.obstacle(line))
        #expect(obstacle == (4_711, "/app/.build"))
        #expect(BuildOutput.line(line + "Building for debugging...") == .ceremony, "SwiftPM goes on in the same line")
        #expect(BuildOutput.obstacle("Another instance of something") == nil)
    }

    @Test func `a repeated message is reported once`() {
        var output = BuildOutput()
        let block = ["/a.swift:1:2: error: no", "1 | code", "  | `- error: no"],
            other = ["/a.swift:2:2: note: see here", "2 | code"]
        var found: [Diagnostic] = []
        let linker = ["ld.gold: error: cannot find -lnope", "clang: error: linker command failed"]
        for line in block + other + block + linker { found += [output.take(line)].compactMap { $0 } }
        #expect(output.text == block + other + linker, "what the linker says comes after what was said twice")
        #expect(found.map(\.severity) == ["error", "note"])
    }

    @Test func `what SwiftPM warns of in another package is left out, and what the compiler says of it is not`() {
        var output = BuildOutput(of: "/home/ada/Notes")
        let files =
            "found 1 file(s) which are unhandled; explicitly declare them as resources or exclude from the target"
        let own = [
            "warning: 'notes': \(files)", "    /home/ada/Notes/Sources/Notes/a.txt",
            "warning: 'notes': Invalid Exclude '/home/ada/Notes/b': File not found.",
        ]
        let other = [
            "warning: 'clock': \(files)", "    /home/ada/clock/Sources/Clock/a.txt",
            "    /home/ada/clock/Sources/Clock/b.txt",
        ]
        let
            compiler = [
                "/home/ada/clock/Sources/Clock/Clock.swift:1:2: warning: no", "    1 | code", "      | `- warning: no",
            ], end = ["error: 'clock': no such target"]
        var found: [Diagnostic] = []
        for line in other + own + other + compiler + other + end { found += [output.take(line)].compactMap { $0 } }
        #expect(output.text == own + compiler + end)
        #expect(found.map(\.severity) == ["warning", "warning", "warning", "error"])
    }

    @Test func `what another product's build has said is not said again, with the lines below it`() throws {
        let shared = ["/a/Shared.swift:1:2: error: no", "1 | code", "  | `- error: no"],
            own = ["/a/Own.swift:3:4: error: neither", "3 | more"],
            package = [
                "warning: 'notes': found 1 file(s) which are unhandled; explicitly declare them as resources",
                "    /a/Sources/Notes/a.txt",
            ]
        var first = BuildOutput()
        for line in package + shared { _ = first.take(line) }
        var second = BuildOutput(known: Set(first.diagnostics))
        for line in package + shared + own { _ = second.take(line) }
        #expect(first.text == package + shared)
        #expect(second.text == own)
    }

    @Test func `mistakes are told again after a save, warnings of the package manager are not`() throws {
        let mistake = try #require(Diagnostic("/a.swift:1:2: error: no")),
            warning = try #require(Diagnostic("warning: 'notes': Invalid Exclude '/b': File not found."))
        var told = ToldDiagnostics()
        told.begin("A")
        told.add([mistake, warning])
        told.begin("B")
        #expect(told.all == [mistake, warning])
        told.begin("A")
        #expect(told.all == [warning], "A is built again, so something has been saved")
        told.packagesChanged()
        #expect(told.all == [])
    }

    @Test func `progress is reported at its pace, and not before it`() {
        var pace = ProgressPace(interval: 5)
        pace.begin(at: 100)
        #expect([104.9, 105, 106, 109.9, 110].map { pace.isDue(at: $0) } == [false, true, false, false, true])
    }
}
