import Backplane
import BackplaneNetwork
import BackplaneTestKit

@testable import BackplaneHost

/// A manager that has its network service download files, and passes their progress on.
struct Downloader: Contract {
    static let version: Version = "1.0.0"
    /// Begins the download of a URL under the id that is its last part.
    let begin = AsyncMethod<String, TransferState>()
    /// The states of a transfer.
    let states = StreamMethod<String, TransferState>()
    /// Pauses, resumes, cancels or removes a transfer: the change, a space, the id.
    let change = AsyncMethod<String, Nothing>()
    /// Keeps the finished file of a transfer.
    let keep = AsyncMethod<String, String>()
    let signIn = AsyncMethod<String, Nothing>()
    let signOut = AsyncMethod<String, Nothing>()
    /// Follows the states of a transfer in a task of its own, whose end is in ``DownloaderPlugin/ends``.
    let follow = AsyncMethod<String, Nothing>()
}

struct DownloaderFiles: Contract {
    static let version: Version = "1.0.0"
    let keep = AsyncMethod<StoredFile, String>()
}

/// The plugins that the classes belong to.
protocol DownloaderEdition: Sendable {
    /// The end of the classes' names.
    static var suffix: String { get }
}

private enum FirstDownloader: DownloaderEdition { static let suffix = "" }

private enum OtherDownloader: DownloaderEdition { static let suffix = "Other" }

enum DownloaderPlugin {
    /// The ends of the tasks that follow states: the code of the error, or nothing.
    static let ends = Recording<String>()

    static func edition(_ version: Version) -> LinkedPlugin {
        plugin("org.backplane.tests.downloader", version, FirstDownloader.self)
    }

    /// Another plugin with classes that do the same.
    static let other = plugin("org.backplane.tests.other", "1.0.0", OtherDownloader.self)

    private static func plugin<E: DownloaderEdition>(_ id: String, _ version: Version, _: E.Type) -> LinkedPlugin {
        LinkedPlugin(id: id, version: version) { registrar in
            registrar.add(DownloaderManager<E>.self)
            registrar.add(DownloaderCommunication<E>.self)
            registrar.add(DownloaderStore<E>.self)
        }
    }

    /// The definition of a manager.
    static func manager(_ name: String, edition: String = "", credential: String? = nil) -> String {
        let configuration = credential.map { #", "configuration": {"credential": "\#($0)"}"# } ?? ""
        return """
            "\(name)": {"className": "DownloaderManager\(edition)",
              "dataAccessController": {"className": "DownloaderStore\(edition)", "namespace": "\(name)"},
              "communicationController": {
                "className": "DownloaderCommunication\(edition)", "namespace": "\(name)"\(configuration)}}
            """
    }
}

private final class DownloaderManager<E: DownloaderEdition>: Manager {
    typealias Provides = Downloader
    static var className: String { "DownloaderManager\(E.suffix)" }
    struct Wires: Wiring {
        let communicationController: Wire<Downloader>
        let dataAccessController: Wire<DownloaderFiles>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.begin) { downloader, url, call in
            try await downloader.wires.communicationController.begin(url, call)
        }
        table.async(\.change) { downloader, text, call in
            try await downloader.wires.communicationController.change(text, call)
        }
        table.async(\.signIn) { downloader, name, call in
            try await downloader.wires.communicationController.signIn(name, call)
        }
        table.async(\.signOut) { downloader, name, call in
            try await downloader.wires.communicationController.signOut(name, call)
        }
        table.async(\.follow) { downloader, id, call in
            try await downloader.wires.communicationController.follow(id, call)
        }
        table.stream(\.states) { downloader, id, elements, call in
            try await elements.send(contentsOf: downloader.wires.communicationController.states(id, call))
        }
        table.async(\.keep) { downloader, id, call in
            for try await state in downloader.wires.communicationController.states(id, call) where state.phase.isFinal {
                guard let file = state.storedFile else { break }
                return try await downloader.wires.dataAccessController.keep(file, call)
            }
            throw BackplaneError(.componentFailed, "there is no file")
        }
    }
}

private final class DownloaderCommunication<E: DownloaderEdition>: CommunicationController {
    typealias Provides = Downloader
    static var className: String { "DownloaderCommunication\(E.suffix)" }
    struct Configuration: Decodable, Sendable {
        var credential: String?
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.begin) { downloader, url, _ in
            let name = url.split(separator: "/").last.map(String.init) ?? ""
            var transfer = Transfer("text/\(name)", download: url, to: name)
            if let credential = downloader.context.configuration.credential {
                (transfer.credential, transfer.account) = (credential, "ann")
            }
            return try await downloader.context.transfers.begin(transfer)
        }
        table.stream(\.states) { downloader, id, elements, _ in
            try await elements.send(contentsOf: downloader.context.transfers.states(of: id))
        }
        table.async(\.change) { downloader, text, _ in
            let words = text.split(separator: " ").map(String.init), transfers = downloader.context.transfers
            switch words[0] {
            case "pause": try await transfers.pause(words[1])
            case "resume": try await transfers.resume(words[1])
            case "cancel": try await transfers.cancel(words[1])
            default: try await transfers.remove(words[1])
            }
            return Nothing()
        }
        table.async(\.keep) { _, _, _ in "" }
        table.async(\.signIn) { downloader, name, call in
            try await downloader.context.http.signIn(
                "library", as: name, with: ["user": name, "password": "rope"], call)
            return Nothing()
        }
        table.async(\.signOut) { downloader, name, _ in
            try downloader.context.http.signOut("library", account: name)
            return Nothing()
        }
        table.async(\.follow) { downloader, id, _ in
            let states = downloader.context.transfers.states(of: id)
            Task {
                var end = ""
                do { for try await _ in states {} } catch { end = BackplaneError(thrown: error).code.rawValue }
                DownloaderPlugin.ends.add(end)
            }
            return Nothing()
        }
    }
}

private final class DownloaderStore<E: DownloaderEdition>: DataAccessController {
    typealias Provides = DownloaderFiles
    static var className: String { "DownloaderStore\(E.suffix)" }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { store, file, _ in try store.context.adopt(file, as: "kept") }
    }
}
