import Backplane

/// The observers of one load: those of the client, followed by those of the endpoint.
struct LoadObservers: Sendable {
    private let observers: [@Sendable (LoadEvent) -> Void]

    /// Creates the observers of a load; returns `nil` if there are none.
    init?(_ client: [@Sendable (LoadEvent) -> Void], _ endpoint: [@Sendable (LoadEvent) -> Void]) {
        guard !client.isEmpty || !endpoint.isEmpty else { return nil }
        observers = client + endpoint
    }

    func notify(_ event: LoadEvent) { for observer in observers { observer(event) } }

    func headed(_ response: HTTPStreamedResponse) {
        notify(.headed(HTTPResponse(status: response.status, headers: response.headers)))
    }

    /// Runs a load between the events for its start and its end.
    func around<Value>(_ load: () async throws -> Value) async throws -> Value {
        notify(.started)
        do {
            let value = try await load()
            notify(.succeeded)
            return value
        } catch {
            notify(.failed(BackplaneError(thrown: error)))
            throw error
        }
    }
}
