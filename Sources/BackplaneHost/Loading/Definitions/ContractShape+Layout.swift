import Backplane
import BackplaneBoundary
import BackplaneDefinitions

extension ContractShape {
    /// Returns the inputs and outputs of a contract's methods, keyed by name, as laid out by a Swift consumer.
    static func all(of layout: ContractLayout) -> [String: ContractShape] {
        var declarations: [Int: TypeLayout.Declaration] = [:]
        layout.forEachDeclaration { declarations[$0.number] = $0 }
        var shapes: [String: ContractShape] = [:]
        for entry in layout.entries {
            guard case .type(let type) = entry.layout else { continue }
            switch entry.subject {
            case .input(let name, _): shapes[name, default: ContractShape()].input = ContractValue(type, declarations)
            case .output(let name, _): shapes[name, default: ContractShape()].output = ContractValue(type, declarations)
            case .state, .call, .failure: break
            }
        }
        return shapes
    }
}

extension ContractValue {
    fileprivate init(_ type: TypeLayout, _ declarations: [Int: TypeLayout.Declaration]) {
        switch type {
        case .standard(let name, _): self.init(standard: name)
        case .tuple: self = .unknown
        case .reference(let number): self = declarations[number].map { ContractValue($0) } ?? .unknown
        case .declared(let declaration): self.init(declaration)
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
        let name = declaration.name.components.map { segment in
            if case .name(let name) = segment.label { name } else { "" }
        }
        self =
            switch name {
            case ["Backplane", "Nothing"]: .nothing
            case ["Backplane", "StoredFile"]: .file
            default: .structure(declaration.members.map(\.name))
            }
    }
}
