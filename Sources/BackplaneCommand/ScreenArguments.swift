import ArgumentParser
import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneHummingbird
import BackplaneScreens
import BackplaneTools
import Foundation

/// The options of commands that show the screens of the host that they create in browsers.
struct ScreenArguments: ParsableArguments {
    @Flag(help: "Show the screens in browsers, and print an address that signs one browser in.") var web = false
    @Option(
        help: ArgumentHelp(
            "The address of the screens for browsers (default: \(ScreenArguments.standard)); implies --web.",
            valueName: "address"))
    var webAddress: String?

    /// The default address.
    private static let standard = "127.0.0.1:8080"

    /// The address of the screens; `nil` if they are not shown in browsers.
    var address: String? { webAddress ?? (web ? Self.standard : nil) }

    /// The given options as words of a command line.
    var words: [String] { address.map { ["--web-address=\($0)"] } ?? [] }

    func validate() throws {
        guard let webAddress else { return }
        do throws(BackplaneError) {
            _ = try ServerSettings.address(webAddress)
        } catch {
            throw ValidationError("--web-address: \(error.message)")
        }
    }

    /// Requires that the options are not given, because the command does not create the host.
    func requireNone() throws {
        guard address != nil else { return }
        throw ValidationError("--web applies to a host that this command creates, not to a running one")
    }

    /// Starts the server of an application's screens; returns `nil` if it is to have none.
    ///
    /// - Parameters:
    ///   - settings: The settings of the host.
    ///   - routes: The settings of the server of its routes, if it has one.
    /// - Throws: `server.failed`.
    func begin(
        _ app: AppManager, _ settings: HostSettings, beside routes: ServerSettings?
    ) async throws(BackplaneError) -> RunningServer? {
        guard let address else { return nil }
        if routes?.listen == address, !address.hasSuffix(":0") {
            throw BackplaneError(
                .serverFailed,
                "the routes are served at \(address); choose another address for the screens with --web-address")
        }
        return try await Engines.show(app, at: address, key: Self.key(settings))
    }

    /// Returns the key of cookies, which is kept beside the data of the components, so that browsers stay signed in;
    /// `nil` if it cannot be kept.
    private static func key(_ settings: HostSettings) -> [UInt8]? {
        let size = 32
        guard let folder = try? DataFolder(in: settings.data, manifest: settings.manifest).path,
            (try? PrivateFolder.make(at: folder)) != nil
        else { return nil }
        let path = FilePath.join(folder, "@screens.key")
        if (try? FileStatus(at: path)) == nil {
            let key = (0..<size).map { _ in UInt8.random(in: 0 ... .max) }
            try? FileReplacement.create(path, with: key, mode: 0o600)
        }
        return FileManager.default.contents(atPath: path).flatMap { $0.count == size ? Array($0) : nil }
    }
}

extension PluginHost {
    /// Throws an error that says what to do if the manifest and its plugins have no screens to begin with.
    func requireScreens() async throws(BackplaneError) {
        await loadScreens()
        let table = screens.table
        if let settings = table.settings, settings.root != nil || !settings.tabs.isEmpty || settings.flow != nil {
            return
        }
        guard !table.managers.isEmpty else {
            throw BackplaneError(
                .screenUnknown,
                "there are no screens: no manager that provides the contract Screens (`ScreenManager`) can start")
        }
        let names = table.managers.keys.sorted()
        let list = names.prefix(5).map { "`\($0)`" }.joined(separator: ", ") + (names.count > 5 ? ", …" : "")
        throw BackplaneError(
            .manifestMissingKey,
            "the manifest does not name the screen to begin with; add \"screens\": {\"root\": \"\(names[0])\"}. "
                + "Screens: \(list)")
    }
}
