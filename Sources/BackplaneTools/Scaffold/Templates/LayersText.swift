extension ManagerLayers {
    /// The source of the data access controller.
    var storeText: String {
        """
        import Backplane
        import BackplaneStorage
        import FoundationEssentials
        \(importsContracts)
        /// A data access controller that stores items in the host's record store.
        final class \(store): DataAccessController {
            typealias Provides = \(archive)
            private struct KeptItem: Record {
                static let collection = "\(kebab)-items"
                var id: String
                var date: Date
                var item: \(item)
            }
            private let records: RecordCollection<KeptItem>

            init(_ context: Context) {
                records = context.store.collection()
            }

            static func methods(_ table: inout Methods) {
                table.async(\\.keep) { store, items, _ in try await store.keep(items) }
                table.async(\\.kept) { store, _, _ in try await store.kept() }
            }

            private func keep(_ items: [\(item)]) async throws -> Nothing {
                try await records.save(items.map { KeptItem(id: $0.id, date: .now, item: $0) })
                return Nothing()
            }

            /// Returns all items, with the date of the oldest.
            private func kept() async throws -> Kept<[\(item)]>? {
                let kept = try await records.all()
                return kept.map(\\.date).min().map { Kept(kept.map(\\.item), at: $0) }
            }
        }

        """
    }

    /// The source of the communication controller.
    var communicationText: String {
        """
        import Backplane
        \(importsContracts)
        /// A communication controller that fetches items through the network service in the manifest's version.
        final class \(communication): CommunicationController {
            typealias Provides = \(network)
            struct Wires: Wiring {
                let feed: Wire<\(feed)>
            }
            private let wires: Wires

            init(_ context: Context) {
                wires = context.wires
            }

            static func methods(_ table: inout Methods) {
                table.async(\\.items) { controller, _, call in try await controller.wires.feed.items(call) }
            }
        }

        """
    }

    /// The source of the network service.
    var serviceText: String {
        """
        import Backplane
        import BackplaneNetwork
        import FoundationEssentials
        \(importsContracts)
        /// A network service that reads items from a URL: `http:`, `https:`, or `file:` below the manifest's folder.
        final class \(service): NetworkService {
            typealias Provides = \(feed)
            struct Configuration: Decodable, Sendable {
                var url: String
            }
            private let url: String
            private let http: HTTPClient

            init(_ context: Context) {
                (url, http) = (context.configuration.url, context.http)
            }

            static func methods(_ table: inout Methods) {
                table.async(\\.items) { service, _, call in try await service.items(call) }
            }

            private func items(_ call: Call) async throws -> [\(item)] {
                let response = try await http.send(HTTPRequest("GET", url), call)
                guard response.status == 200 else { throw Unusable(url: url, reason: "status \\(response.status)") }
                do {
                    return try JSONDecoder().decode([\(item)].self, from: Data(response.body))
                } catch {
                    throw Unusable(url: url, reason: "\\(error)")
                }
            }

            struct Unusable: ComponentError {
                var url: String, reason: String
                var code: String { "\(kebab).feed-unusable" }
                var message: String { "no list of items came from \\(url): \\(reason)" }
            }
        }

        """
    }

    /// The sample data that the service reads until it has a server.
    var sampleText: String {
        """
        [
          { "id": "1", "text": "The first item, from a file. The manifest's `url` says where else to look." },
          { "id": "2", "text": "The second one." }
        ]

        """
    }
}
