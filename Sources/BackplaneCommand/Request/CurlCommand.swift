import BackplaneNetwork
import BackplaneTerminal

/// The curl command line that makes the same request.
struct CurlCommand: Sendable {
    var method: String
    var url: String
    var headers: [(name: String, value: String)]
    var body: RequestBody
    var output: String?
    var decompresses = false

    var line: String {
        // Without options, curl would add a form's media type, and follow no redirect: as this command does.
        var words = ["curl", "-X", method]
        if method == "HEAD" { words = ["curl", "--head"] }
        if decompresses { words.append("--compressed") }
        for (name, value) in headers { words += ["-H", value.isEmpty ? "\(name);" : "\(name): \(value)"] }
        let hasType = headers.contains { $0.name.lowercased() == "content-type" }
        switch body {
        case .none: break
        case .text(let text): words += type("text/plain; charset=utf-8", hasType) + ["--data-raw", text]
        case .json(let text): words += type("application/json", hasType) + ["--data-raw", text]
        case .file(let path): words += type("application/octet-stream", hasType) + ["--data-binary", "@\(path)"]
        case .form(let fields) where fields.contains { $0.isFile }:
            for field in fields { words += field.isFile ? ["-F", field.curlFile] : ["--form-string", field.text] }
        case .form(let fields):
            for field in fields { words += ["--data-urlencode", field.text] }
        }
        if let output { words += ["--output", output] }
        return (words + [url]).map(Self.quoted).joined(separator: " ")
    }

    /// Returns a word quoted for a shell, unchanged even if it has line breaks.
    private static func quoted(_ word: String) -> String {
        let plain = word.shellWord
        return plain == word ? word : "'\(word.replacing("'", with: #"'\''"#))'"
    }

    private func type(_ type: String, _ isGiven: Bool) -> [String] { isGiven ? [] : ["-H", "Content-Type: \(type)"] }
}

extension RequestBody.Field {
    /// The field for curl's `-F`, with the media type that curl would otherwise guess from the file's name.
    ///
    /// Quotes separate the path from anything that follows a comma or a semicolon.
    fileprivate var curlFile: String {
        let path = value.dropFirst().replacing(#"\"#, with: #"\\"#).replacing("\"", with: #"\""#)
        return "\(name)=@\"\(path)\";type=application/octet-stream"
    }
}
