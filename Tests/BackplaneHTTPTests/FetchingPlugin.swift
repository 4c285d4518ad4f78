import Backplane
import BackplaneNetwork

/// A manager that fetches through a communication controller and a network service; linked into the tests.
struct CourierPlugin: Plugin {
    static let id = "org.backplane.tests.courier"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(Courier.self)
        registrar.add(CourierCommunication.self)
        registrar.add(FetchService.self)
    }
}

struct Fetching: Contract {
    static let version: Version = "1.0.0"
    let fetch = AsyncMethod<String, String>()
}

final class Courier: Manager {
    typealias Provides = Fetching
    struct Wires: Wiring {
        let communicationController: Wire<Fetching>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.fetch) { courier, url, call in try await courier.wires.communicationController.fetch(url, call) }
    }
}

final class CourierCommunication: CommunicationController {
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
                HTTPRequest("POST", url, headers: ["X-From": "courier"], body: Array("what?".utf8)), call)
            return "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
        }
    }
}
