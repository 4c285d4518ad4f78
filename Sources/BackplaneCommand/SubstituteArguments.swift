import ArgumentParser
import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneTools
import Foundation

/// The options of commands whose requests are answered by mocks or a cassette, or recorded to one.
struct SubstituteArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Answer requests with the mocks in a folder, and in the folder `mocks` beside the manifest.",
            valueName: "folder"), completion: .directory)
    var mock: String?

    @Flag(help: "With --mock, send the requests that have no mock.") var fallThrough = false

    @Option(
        help: ArgumentHelp("Record the exchanges to a cassette, which is a new file.", valueName: "file"),
        completion: .file())
    var record: String?

    @Option(
        help: ArgumentHelp("Answer requests with the exchanges of a cassette.", valueName: "file"),
        completion: .file())
    var replay: String?

    /// The given options, as they are passed to another command.
    var given: [(name: String, value: String)] {
        [("--mock", mock), ("--record", record), ("--replay", replay)].compactMap { name, value in
            value.map { (name, $0) }
        }
    }

    /// The given options as words of a command line.
    var words: [String] { given.map { "\($0.name)=\($0.value)" } + (fallThrough ? ["--fall-through"] : []) }

    func validate() throws {
        guard given.count < 2 else {
            let names = given.map(\.name).joined(separator: " and ")
            throw ValidationError("\(names) exclude each other; use only one of them")
        }
        if fallThrough, mock == nil { throw ValidationError("--fall-through requires --mock") }
        var isFolder: ObjCBool = false
        if let mock, !FileManager.default.fileExists(atPath: mock, isDirectory: &isFolder) || !isFolder.boolValue {
            throw ValidationError("--mock: expected a folder with mocks, found none at `\(mock)`")
        }
    }

    /// Requires that none is given, because the command does not create the host.
    func requireNone() throws {
        guard let option = given.first?.name else { return }
        throw ValidationError("\(option) applies to a host that this command creates, not to a running one")
    }

    var mocks: Mocks? { mock.map { Mocks(folders: [$0], fallsThrough: fallThrough) } }

    /// Returns the cassette that is recorded or replayed; prints the error if it cannot be used.
    func cassette() throws -> Cassette? {
        do throws(BackplaneError) {
            if let record { return try .recording(to: record) }
            if let replay { return try .replaying(replay) }
            return nil
        } catch {
            throw ExitCode(Output.fail(error))
        }
    }

    /// Returns the settings of a host whose requests are answered or recorded in this way.
    func applied(to settings: HostSettings) throws -> HostSettings {
        var settings = settings
        (settings.mocks, settings.cassette) = (mocks, try cassette())
        return settings
    }
}
