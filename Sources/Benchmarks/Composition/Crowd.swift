import Backplane
import BackplaneDocuments
import BackplaneHost

/// Managers of the library `BenchmarkCrowd`, which use one another in chains of ten.
///
/// Each has a data access controller, a communication controller and two network services: one is the current version
/// of its class, and the other a former version of another class.
struct Crowd {
    /// The number of managers for which the library has classes.
    static let size = 1_000
    private static let chain = 10
    var managers = Crowd.size
    /// A number in the configuration of the last manager's data access controller; no other manager uses that manager.
    var kept = 500

    static func name(_ number: Int) -> String { "Manager" + digits(number) }
    var lastName: String { Self.name(managers - 1) }

    var manifest: ManifestValue {
        [
            "manifestVersion": 1,
            "plugins": [["library": "BenchmarkCrowd"]],
            "managers": .dictionary(
                Dictionary(uniqueKeysWithValues: (0..<managers).map { (Self.name($0), manager($0)) })),
        ]
    }

    private func manager(_ number: Int) -> ManifestValue {
        let digits = Self.digits(number)
        var manager: [String: ManifestValue] = [
            "className": .string("CrowdManager" + digits),
            "dataAccessController": [
                "className": .string("CrowdStore" + digits),
                "configuration": ["keep": .integer(Int64(number == managers - 1 ? kept : 500))],
            ],
            "communicationController": [
                "className": .string("CrowdCommunication" + digits),
                "services": [
                    service("current", number, version: "[2.0,3.0)"),
                    service("former", (number + 1) % Self.size, version: "[1.0,2.0)"),
                ],
            ],
        ]
        if number % Self.chain > 0 { manager["uses"] = ["previous": .string(Self.name(number - 1))] }
        return .dictionary(manager)
    }

    private func service(_ property: String, _ number: Int, version: String) -> ManifestValue {
        [
            "className": .string("CrowdService" + Self.digits(number)), "version": .string(version),
            "propertyName": .string(property),
            "networkServiceConfiguration": [
                "baseURL": .string("http://127.0.0.1:8484/crowd/\(number)"), "timeout": 30, "reader": "ada",
            ],
        ]
    }

    private static func digits(_ number: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: 4 - text.count) + text
    }
}

/// The contract of the crowd's managers.
struct CrowdContract: Contract {
    static let name = "Crowd"
    static let version: Version = "1.2.0"
    let next = AsyncMethod<Int, Int>()
    init() {}
}
