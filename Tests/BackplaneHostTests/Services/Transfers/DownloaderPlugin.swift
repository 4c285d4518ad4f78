import Backplane
import BackplaneNetwork
import Synchronization

@testable import BackplaneHost

/// A manager that has its network service download files, and passes their progress on.
struct Carrier: Contract {
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
    /// Follows the states of a transfer in a task of its own, whose end is in ``CarrierPlugin/ends``.
    let follow = AsyncMethod<String, Nothing>()
}

struct CarrierFiles: Contract {
    static let version: Version = "1.0.0"
    let keep = AsyncMethod<StoredFile, String>()
}

/// The plugins that the classes belong to.
protocol CarrierEdition: Sendable {
    /// The end of the classes' names.
    static var suffix: String { get }
}

private enum FirstCarrier: CarrierEdition { static let suffix = "" }

private enum OtherCarrier: CarrierEdition { static let suffix = "Other" }

enum CarrierPlugin {
    /// The ends of the tasks that follow states: the code of the error, or nothing.
    static let ends = Mutex<[String]>([])

    static func edition(_ version: Version) -> LinkedPlugin {
        plugin("org.backplane.tests.carrier", version, FirstCarrier.self)
    }

    /// Another plugin with classes that do the same.
    static let other = plugin("org.backplane.tests.other", "1.0.0", OtherCarrier.self)

    private static func plugin<E: CarrierEdition>(_ id: String, _ version: Version, _: E.Type) -> LinkedPlugin {
        LinkedPlugin(id: id, version: version) { registrar in
            registrar.add(CarrierManager<E>.self)
            registrar.add(CarrierCommunication<E>.self)
            registrar.add(CarrierStore<E>.self)
        }
    }

    /// The definition of a manager.
    static func manager(_ name: String, edition: String = "", credential: String? = nil) -> String {
        let configuration = credential.map { #", "configuration": {"credential": "\#($0)"}"# } ?? ""
        return """
            "\(name)": {"className": "CarrierManager\(edition)",
              "dataAccessController": {"className": "CarrierStore\(edition)", "namespace": "\(name)"},
              "communicationController": {
                "className": "CarrierCommunication\(edition)", "namespace": "\(name)"\(configuration)}}
            """
    }
}

private final class CarrierManager<E: CarrierEdition>: Manager {
    typealias Provides = Carrier
    static var className: String { "CarrierManager\(E.suffix)" }
    struct Wires: Wiring {
        let communicationController: Wire<Carrier>
        let dataAccessController: Wire<CarrierFiles>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.begin) { carrier, url, call in try await carrier.wires.communicationController.begin(url, call) }
        table.async(\.change) { carrier, text, call in
            try await carrier.wires.communicationController.change(text, call)
        }
        table.async(\.signIn) { carrier, name, call in
            try await carrier.wires.communicationController.signIn(name, call)
        }
        table.async(\.signOut) { carrier, name, call in
            try await carrier.wires.communicationController.signOut(name, call)
        }
        table.async(\.follow) { carrier, id, call in
            try await carrier.wires.communicationController.follow(id, call)
        }
        table.stream(\.states) { carrier, id, elements, call in
            try await elements.send(contentsOf: carrier.wires.communicationController.states(id, call))
        }
        table.async(\.keep) { carrier, id, call in
            for try await state in carrier.wires.communicationController.states(id, call) where state.phase.isFinal {
                guard let file = state.storedFile else { break }
                return try await carrier.wires.dataAccessController.keep(file, call)
            }
            throw BackplaneError(.componentFailed, "there is no file")
        }
    }
}

private final class CarrierCommunication<E: CarrierEdition>: CommunicationController {
    typealias Provides = Carrier
    static var className: String { "CarrierCommunication\(E.suffix)" }
    struct Configuration: Decodable, Sendable {
        var credential: String?
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.begin) { carrier, url, _ in
            let name = url.split(separator: "/").last.map(String.init) ?? ""
            var transfer = Transfer("text/\(name)", .download(HTTPRequest("GET", url), to: name))
            if let credential = carrier.context.configuration.credential {
                (transfer.credential, transfer.account) = (credential, "ann")
            }
            return try await carrier.context.transfers.begin(transfer)
        }
        table.stream(\.states) { carrier, id, elements, _ in
            try await elements.send(contentsOf: carrier.context.transfers.states(of: id))
        }
        table.async(\.change) { carrier, text, _ in
            let words = text.split(separator: " ").map(String.init), transfers = carrier.context.transfers
            switch words[0] {
            case "pause": try await transfers.pause(words[1])
            case "resume": try await transfers.resume(words[1])
            case "cancel": try await transfers.cancel(words[1])
            default: try await transfers.remove(words[1])
            }
            return Nothing()
        }
        table.async(\.keep) { _, _, _ in "" }
        table.async(\.signIn) { carrier, name, call in
            try await carrier.context.http.signIn(
                "library", as: name, with: ["user": name, "password": "rope"], call)
            return Nothing()
        }
        table.async(\.signOut) { carrier, name, _ in
            try carrier.context.http.signOut("library", account: name)
            return Nothing()
        }
        table.async(\.follow) { carrier, id, _ in
            let states = carrier.context.transfers.states(of: id)
            Task {
                var end = ""
                do { for try await _ in states {} } catch { end = BackplaneError(thrown: error).code.rawValue }
                CarrierPlugin.ends.withLock { [end] in $0.append(end) }
            }
            return Nothing()
        }
    }
}

private final class CarrierStore<E: CarrierEdition>: DataAccessController {
    typealias Provides = CarrierFiles
    static var className: String { "CarrierStore\(E.suffix)" }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { store, file, _ in try store.context.adopt(file, as: "kept") }
    }
}
