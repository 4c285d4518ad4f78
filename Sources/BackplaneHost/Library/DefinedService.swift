import Backplane
import BackplaneDefinitions
import BackplaneNetwork

/// The built-in network service, whose methods are described by a definition file.
///
/// The class is the same for all definitions. Each definition has its own registration, with the contract that it
/// serves.
final class DefinedService: NetworkService {
    struct Configuration: Decodable, Sendable {
        /// The name of the web service, used to find its definition in a folder.
        var serviceName: String
        /// The URL to which paths are relative.
        var baseURL: String
        /// The path of the definition, or of its folder, relative to the manifest's folder; `nil` for that folder.
        var definition: String?
        /// The name of the contract; `nil` means `WebAPI`.
        var contract: String?
        /// The name of the credential in the manifest's `network.credentials`.
        var credentials: String?
        var account: String?
    }

    static let classNames = ["WebService", "NCWebService"]
    static var className: String { classNames[0] }

    private let service: WebService
    /// The function that maps responses to the JSON of the contract.
    private let serialize: WebService.Serialize

    init(_ context: Context) throws {
        throw BackplaneError(.componentFailed, "a web service is created from a definition")
    }

    init(
        _ context: Context, _ content: DefinitionContent, serialize: @escaping WebService.Serialize
    ) throws {
        self.serialize = serialize
        let configuration = context.configuration
        var client = context.http
        (client.defaults.credential, client.defaults.account) = (configuration.credentials, configuration.account)
        service = try WebService(
            named: configuration.serviceName, baseURL: configuration.baseURL, content, client: client)
    }

    /// The function of the only method of `WebAPI`.
    static var callByName: EncodedFunction<DefinedService> {
        { service, input, call in try await service.service.answerByName(input, call, serialize: service.serialize) }
    }

    static func function(of method: ServedMethod) -> EncodedFunction<DefinedService> {
        { service, input, call in try await service.service.answer(method, input, call, serialize: service.serialize) }
    }
}

extension ContractShape {
    /// Returns the inputs and outputs of a contract's methods, keyed by name, as laid out by a Swift consumer.
    static func all(of layout: ContractLayout) -> [String: ContractShape] {
        var shapes: [String: ContractShape] = [:]
        for (name, type) in layout.inputs {
            shapes[name, default: ContractShape()].input = ContractValue(type, layout.declarations)
        }
        for (name, type) in layout.outputs {
            shapes[name, default: ContractShape()].output = ContractValue(type, layout.declarations)
        }
        return shapes
    }
}

extension ContractValue {
    fileprivate init(_ type: TypeLayout, _ declarations: [Int: TypeLayout.Declaration]) {
        switch type {
        case .standard(let name, _): self.init(standard: name)
        case .tuple: self = .unknown
        case .declared(let number): self = declarations[number].map { ContractValue($0) } ?? .unknown
        }
    }

    private init(standard name: String) {
        self =
            switch name {
            case "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Float",
                "Double", "Decimal", "Date", "Bool":
                .scalar
            case "String", "Substring": .text
            case "Data": .data
            case "Array", "ContiguousArray", "Set": .list
            default: .unknown
            }
    }

    private init(_ declaration: TypeLayout.Declaration) {
        guard !declaration.isEnumeration else {
            self = .unknown
            return
        }
        self =
            switch declaration.path {
            case ["Backplane", "Nothing"]: .nothing
            case ["Backplane", "StoredFile"]: .file
            default: .structure(declaration.members.map(\.name))
            }
    }
}
