import Backplane
import BackplaneDocuments
import FoundationEssentials

/// The input of `backplane call`, and what is said of one that the method does not take.
enum CallInput {
    /// Returns the input as JSON.
    ///
    /// - Parameter text: The JSON, `-` for standard input, or `nil` for none.
    /// - Throws: `call.invalid-input` for what is not JSON, with the place; and if standard input cannot be read.
    static func bytes(_ text: String?) throws(BackplaneError) -> [UInt8] {
        guard let text else { return Array("null".utf8) }
        let bytes = text == "-" ? try Input.standard(limit: 64 << 20) : Array(text.utf8)
        guard !JSONCheck.isJSON(bytes) else { return bytes }
        var reason = "expected JSON"
        do throws(DocumentError) {
            _ = try JSONValue(parsing: Data(bytes), as: .document)
        } catch {
            reason = error.description
        }
        throw BackplaneError(.callInvalidInput, "the input is not JSON: \(reason)\(advice(on: text))")
    }

    /// Returns how to write a word that was meant as a string.
    private static func advice(on text: String) -> String {
        guard text != "-", !text.isEmpty, !text.contains(where: { "\"{}[]'\\".contains($0) || $0.isNewline }) else { return "" }
        return "; for a string, write '\"\(text)\"'"
    }

    /// Returns the error of a call to which no input was given, which is `null` for the method.
    static func explaining(_ error: BackplaneError, to method: String) -> BackplaneError {
        guard error.code == .callInvalidInput else { return error }
        return BackplaneError(
            error.code, "`\(method)` takes an input, and none was given: \(error.message); write it as JSON after the method",
            at: error.location, failure: error.failure, causes: error.causes)
    }
}
