import Backplane
import Testing

@testable import BackplaneHost

/// A plugin in C as ABI 0 had it and the same in C++: the caller cannot tell which, nor of which year.
@Suite(.timeLimit(.minutes(5)))
struct LedgerTests {
    @Test(arguments: LedgerLibrary.allCases) func `methods of both kinds answer`(library: LedgerLibrary) async throws {
        let ledger = try LedgerHost(library.built())
        #expect(try await ledger.call("total") == "0")
        #expect(try await ledger.call("add", "7") == "7")
        #expect(try await ledger.call("add", "-3") == "4")
        #expect(try await ledger.call("total") == "4")
        #expect(try await ledger.call("edition") == "1")
        await ledger.host.stop()
        #expect(ledger.lines == ["activate 1", "stop 1"])
    }

    @Test(arguments: LedgerLibrary.allCases) func `an input that it cannot take is an error of the caller`(
        library: LedgerLibrary
    ) async throws {
        let ledger = try LedgerHost(library.built())
        for input in ["null", "\"7\"", "7.5", "[7]", "", "7 7", "12345678901234567890"] {
            #expect(
                await error { try await ledger.call("add", input) }
                    == BackplaneError(.callInvalidInput, "`add` takes a whole number"), "\(input)")
        }
        #expect(try await ledger.call("total") == "0")
        await ledger.host.stop()
    }

    @Test(arguments: LedgerLibrary.allCases) func `an error of its own arrives whole`(library: LedgerLibrary)
        async throws
    {
        let ledger = try LedgerHost(library.built())
        #expect(try await ledger.call("add", "5") == "5")
        let overdrawn = await error { try await ledger.call("add", "-12") }
        #expect(overdrawn?.code == .componentFailed && overdrawn?.message == "the ledger lacks 7")
        #expect(overdrawn?.failure == .init(code: "ledger.overdrawn", details: ["missing": "7"]))
        #expect(try await ledger.call("total") == "5", "nothing was taken")
        await ledger.host.stop()
    }

    @Test(arguments: LedgerLibrary.allCases) func `it calls its collaborator, and passes on the answer or the error`(
        library: LedgerLibrary
    ) async throws {
        let ledger = try LedgerHost(library.built())
        #expect(try await ledger.test.call("Trials", "path") == "[]")
        #expect(try await ledger.call("path") == "[2]", "the call came through the ledger")
        let trouble = await error { try await ledger.call("fail", #""ouch""#) }
        #expect(trouble?.code == .componentFailed && trouble?.message == "ouch")
        #expect(trouble?.failure == .init(code: "trial.trouble", details: ["length": "4"]))
        await ledger.host.stop()
    }

    @Test(arguments: LedgerLibrary.allCases) func `an abandoned call is cancelled`(
        library: LedgerLibrary
    ) async throws {
        let (waiting, isWaiting) = AsyncStream<Void>.makeStream()
        let ledger = try LedgerHost(
            library.built(), log: RecordedLog { if $0.message == "waiting" { isWaiting.yield() } })
        let call = Task { () async throws(BackplaneError) -> String in try await ledger.call("wait") }
        for await _ in waiting { break }
        call.cancel()
        #expect(await error { try await call.value }?.code == .callCancelled)
        await eventually { ledger.lines.last == "cancelled 1" }
        #expect(try await ledger.call("add", "1") == "1", "it goes on")
        await ledger.host.stop()
    }

    @Test(arguments: LedgerLibrary.allCases)
    func `a configuration that it refuses is an error, and a check finds the key that it does not know`(
        library: LedgerLibrary
    ) async throws {
        let sealed = try LedgerHost(library.built(), configuration: #"{"sealed": true}"#)
        let refused = await error { try await sealed.call("total") }
        #expect(refused.map { "\($0)".contains("the ledger is sealed") } == true, "\(String(describing: refused))")
        await sealed.host.stop()
        let coloured = try LedgerHost(library.built(), configuration: #"{"colour": "red"}"#)
        #expect(
            await coloured.host.check().map { "\($0.error.code) \($0.error.location ?? "-")" } == [
                "manifest.unknown-key /managers/Ledger/configuration/colour"
            ])
        #expect(try await coloured.call("total") == "0")
        await coloured.host.stop()
    }

    @Test(arguments: LedgerLibrary.allCases) func `its book keeps numbers in the store, over a swap too`(
        library: LedgerLibrary
    ) async throws {
        let ledger = try LedgerHost(library.built(), more: #", "dataAccessController": {"className": "LedgerBook"}"#)
        for number in ["3", "4", "3"] { #expect(try await ledger.call("keep", number) == "null") }
        #expect(try await ledger.call("kept") == "2", "three is kept once")
        _ = try await ledger.swap(library.built(edition: 2))
        #expect(try await ledger.call("keep", "5") == "null")
        #expect(try await ledger.call("kept") == "3")
        await ledger.host.stop()
    }

    @Test(arguments: LedgerLibrary.allCases) func `without a book nothing is kept, and that is an error`(
        library: LedgerLibrary
    ) async throws {
        let ledger = try LedgerHost(library.built())
        #expect(await error { try await ledger.call("kept") }?.code == .wireUnknown)
        await ledger.host.stop()
    }

    /// With the compilers of the system, where they are installed.
    @Test(arguments: LedgerLibrary.otherCompilers) func `it does so with every compiler`(
        compiler: LedgerLibrary.Compiler
    ) async throws {
        if !compiler.isInstalled { try Test.cancel("\(compiler) is not installed") }
        let ledger = try LedgerHost(compiler.library.built(by: compiler))
        #expect(try await ledger.call("add", "7") == "7")
        #expect(await error { try await ledger.call("add", "-12") }?.failure?.code == "ledger.overdrawn")
        #expect(try await ledger.call("path") == "[2]")
        #expect(try await ledger.swap(compiler.library.built(edition: 2)).outcome == .swapped)
        #expect(try await ledger.call("total") == "7")
        await ledger.host.stop()
    }
}
