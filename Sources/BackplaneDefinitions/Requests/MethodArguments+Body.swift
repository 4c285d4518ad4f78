import Backplane
import BackplaneNetwork

extension MethodArguments {
    /// Returns a body that the definition describes.
    func body(_ template: BodyTemplate) throws(BackplaneError) -> HTTPBody {
        switch template {
        case .bytes(let bytes): return .bytes(bytes, type: "application/octet-stream")
        case .text(let template): return .text(try wholeText(template, "the body"))
        case .json(let template): return json(try bytes(value(template), "the body"))
        case .argument(let indicator):
            let value = try value(indicator)
            return switch value {
            case .null: .none
            case .bytes(let bytes): .bytes(bytes, type: "application/octet-stream")
            case .text(let text): .text(text)
            default: json(try bytes(value, indicator.subject))
            }
        }
    }

    private func json(_ bytes: [UInt8]) -> HTTPBody { .bytes(bytes, type: "application/json") }

    private func bytes(_ value: ArgumentValue, _ subject: String) throws(BackplaneError) -> [UInt8] {
        do {
            return try value.json()
        } catch {
            throw refused("\(subject) contains a file, which JSON cannot represent; name it in `files`")
        }
    }

    private func value(_ template: JSONTemplate) throws(BackplaneError) -> ArgumentValue {
        switch template {
        case .value(let value): return value
        case .text(let template):
            if let indicator = template.indicator { return try value(indicator) }
            return .text(try wholeText(template, "the body"))
        case .array(let elements):
            return .array(try elements.map { element throws(BackplaneError) in try value(element) })
        case .object(let members):
            var values: [String: ArgumentValue] = [:]
            for (name, member) in members { values[name] = try value(member) }
            return .object(values)
        }
    }

    private func wholeText(_ template: Template, _ place: String) throws(BackplaneError) -> String {
        guard let text = try text(of: template, in: place) else {
            throw refused("an argument of the text for \(place) is null")
        }
        return text
    }
}
