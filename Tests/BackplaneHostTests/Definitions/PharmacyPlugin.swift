import Backplane
import BackplaneDefinitions
import BackplaneDocuments
import BackplaneNetwork
import TestFixtures

/// A manager and a communication controller that pass every call on to a network service; linked into the tests.
struct PharmacyPlugin: Plugin {
    static let id = "org.backplane.tests.pharmacies"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(PharmacyManager.self)
        registrar.add(PharmacyCommunication.self)
        registrar.add(NamedPharmacyManager.self)
        registrar.add(NamedPharmacyCommunication.self)
        registrar.add(FlatSerializer.self)
    }
}

/// A contract that no network service in code provides, with inputs and outputs of all kinds.
struct Pharmacies: Contract {
    static let version: Version = "1.2.0"
    /// A struct, by its properties.
    let search = AsyncMethod<PharmacyQuery, [Pharmacy]>()
    /// A struct, by its positions.
    let rate = AsyncMethod<PharmacyRating, Nothing>()
    /// A list, by its positions.
    let between = AsyncMethod<[Int], [Pharmacy]>()
    /// A value in a header field, and a text.
    let greeting = AsyncMethod<String, String>()
    /// No input.
    let all = AsyncMethod<Nothing, [Pharmacy]>()
    /// A file and a text in a form.
    let send = AsyncMethod<PharmacyPicture, Int>()
    let photo = AsyncMethod<Int, StoredFile>()
    let icon = AsyncMethod<Int, [UInt8]?>()
    /// A method that no definition here has.
    let forget = AsyncMethod<Int, Nothing>()
}

struct PharmacyQuery: Codable, Sendable {
    var zip: String
    var radius: Int?
}

struct PharmacyRating: Codable, Sendable {
    var pharmacy: Int
    var stars: Int
    var reader: String?
}

struct PharmacyPicture: Codable, Sendable {
    var title: String
    var picture: StoredFile
}

struct Pharmacy: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

final class PharmacyManager: Manager {
    typealias Provides = Pharmacies
    struct Wires: Wiring {
        let communicationController: Wire<Pharmacies>
    }
    private let pharmacies: Wire<Pharmacies>

    init(_ context: Context) { pharmacies = context.wires.communicationController }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { try await $0.pharmacies.search($1, $2) }
        table.async(\.rate) { try await $0.pharmacies.rate($1, $2) }
        table.async(\.between) { try await $0.pharmacies.between($1, $2) }
        table.async(\.greeting) { try await $0.pharmacies.greeting($1, $2) }
        table.async(\.all) { try await $0.pharmacies.all($1, $2) }
        table.async(\.send) { try await $0.pharmacies.send($1, $2) }
        table.async(\.photo) { try await $0.pharmacies.photo($1, $2) }
        table.async(\.icon) { try await $0.pharmacies.icon($1, $2) }
        table.async(\.forget) { try await $0.pharmacies.forget($1, $2) }
    }
}

final class PharmacyCommunication: CommunicationController {
    typealias Provides = Pharmacies
    struct Wires: Wiring {
        let service: Wire<Pharmacies>
    }
    private let service: Wire<Pharmacies>

    init(_ context: Context) { service = context.wires.service }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { try await $0.service.search($1, $2) }
        table.async(\.rate) { try await $0.service.rate($1, $2) }
        table.async(\.between) { try await $0.service.between($1, $2) }
        table.async(\.greeting) { try await $0.service.greeting($1, $2) }
        table.async(\.all) { try await $0.service.all($1, $2) }
        table.async(\.send) { try await $0.service.send($1, $2) }
        table.async(\.photo) { try await $0.service.photo($1, $2) }
        table.async(\.icon) { try await $0.service.icon($1, $2) }
        table.async(\.forget) { try await $0.service.forget($1, $2) }
    }
}

/// A manager of a service that is called by the names of its methods.
final class NamedPharmacyManager: Manager {
    typealias Provides = WebAPI
    struct Wires: Wiring {
        let communicationController: Wire<WebAPI>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.call) { try await $0.wires.communicationController.call($1, $2) }
    }
}

final class NamedPharmacyCommunication: CommunicationController {
    typealias Provides = WebAPI
    struct Wires: Wiring {
        let service: Wire<WebAPI>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.call) { try await $0.wires.service.call($1, $2) }
    }
}
