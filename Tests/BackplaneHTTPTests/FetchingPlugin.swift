import Backplane
import BackplaneNetwork

/// A manager that fetches through a communication controller and a network service; linked into the tests.
struct FetchingPlugin: Plugin {
    static let id = "org.backplane.tests.fetching"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(FetchingManager.self)
        registrar.add(FetchingCommunication.self)
        registrar.add(FetchService.self)
    }
}

struct Fetching: Contract {
    static let version: Version = "1.0.0"
    let fetch = AsyncMethod<String, String>()
}

final class FetchingManager: Manager {
    typealias Provides = Fetching
    struct Wires: Wiring {
        let communicationController: Wire<Fetching>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.fetch) { fetching, url, call in try await fetching.wires.communicationController.fetch(url, call)
        }
    }
}

final class FetchingCommunication: CommunicationController {
    typealias Provides = Fetching
    struct Wires: Wiring {
        let fetcher: Wire<Fetching>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.fetch) { controller, url, call in try await controller.wires.fetcher.fetch(url, call) }
    }
}

final class FetchService: NetworkService {
    typealias Provides = Fetching
    private let http: HTTPClient

    init(_ context: Context) { http = context.http }

    static func methods(_ table: inout Methods) {
        table.async(\.fetch) { service, url, call in
            let response = try await service.http.send(
                HTTPRequest("POST", url, headers: ["X-From": "fetching"], body: Array("what?".utf8)), call)
            return "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
        }
    }
}
