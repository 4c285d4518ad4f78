/// The text of a layout, on one line:
///
///     Array<#0=struct Library.Book 40/8/40/4096{title:String,tags:Optional<Array<String>>,next:Array<#0>}>
///
/// A declared type has a number, its name, size, alignment, stride and spare bit patterns, and its members.
extension TypeLayout {
    package var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    func write(to text: inout String) {
        switch self {
        case .standard(let name, let arguments):
            text += name
            Self.write(arguments, to: &text)
        case .tuple(let size, let elements):
            text += "tuple \(size.text){"
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                if let label = element.label { text += "\(LayoutName.quoted(label)):" }
                element.type.write(to: &text)
            }
            text += "}"
        case .declared(let declaration): declaration.write(to: &text)
        case .reference(let number): text += "#\(number)"
        }
    }

    fileprivate static func write(_ arguments: [TypeLayout], to text: inout String) {
        guard !arguments.isEmpty else { return }
        text += "<"
        for (index, argument) in arguments.enumerated() {
            if index > 0 { text += "," }
            argument.write(to: &text)
        }
        text += ">"
    }
}

extension TypeLayout.Declaration {
    fileprivate func write(to text: inout String) {
        text += "#\(number)=\(isEnumeration ? "enum" : "struct") "
        for (index, component) in name.components.enumerated() {
            if index > 0 { text += "." }
            switch component.label {
            case .name(let name): text += LayoutName.quoted(name)
            case .hidden: text += "(private)"
            case .extension(let module): text += "(in \(LayoutName.quoted(module)))"
            }
            TypeLayout.write(component.arguments, to: &text)
        }
        text += " \(size.text)"
        if let rawType {
            text += " of "
            rawType.write(to: &text)
        }
        text += "{"
        for (index, member) in members.enumerated() {
            if index > 0 { text += "," }
            if member.isIndirect { text += "indirect " }
            text += LayoutName.quoted(member.name)
            if let type = member.type {
                text += ":"
                type.write(to: &text)
            }
        }
        text += "}"
    }
}

extension TypeSize {
    fileprivate var text: String { "\(size)/\(alignment)/\(stride)/\(spare)" }
}
