package import CBackplane

/// The result of an encoded call: a copy of the status code and payload of `bp_done`.
@usableFromInline
package struct EncodedAnswer: Sendable {
    package var status: Int32
    package var payload: [UInt8]

    package init(status: Int32, payload: [UInt8]) {
        (self.status, self.payload) = (status, payload)
    }

    package init(_ result: [UInt8]) {
        self.init(status: Int32(BP_OK), payload: result)
    }

    package init(_ error: BackplaneError) {
        // An error that its status expresses completely is sent as plain text, for readers without JSON.
        if let status = Self.status(saying: error) {
            self.init(status: status, payload: Array(error.message.utf8))
            return
        }
        // An error consists of nested texts. It can be encoded unless its causes are nested deeper than JSON allows.
        let payload =
            (try? JSON.encode(error, failing: .callInvalidOutput))
            ?? (try? JSON.encode(error.keepingCauses(100), failing: .callInvalidOutput))
        self.init(status: Int32(BP_ERROR), payload: payload ?? [])
    }

    package init(_ status: Int32, _ payload: bp_bytes) {
        self.init(status: status, payload: payload.array)
    }

    package func get() throws(BackplaneError) -> [UInt8] {
        guard status != Int32(BP_OK) else { return payload }
        throw error
    }

    package var error: BackplaneError {
        if status == Int32(BP_ERROR),
            let error = try? JSON.decode(BackplaneError.self, payload, failing: .callInvalidOutput)
        {
            return error
        }
        let text = Self.readable(payload)
        let (code, fallback) = Self.meaning(of: status)
        return BackplaneError(code, text.isEmpty ? fallback : text)
    }

    /// Returns a plugin's error message as text, cut off after `textLimit` bytes.
    private static func readable(_ payload: [UInt8]) -> String {
        guard payload.count > textLimit else { return String(decoding: payload, as: UTF8.self) }
        return String(decoding: payload.prefix(textLimit), as: UTF8.self)
            + "… (the first \(textLimit) of \(payload.count) bytes)"
    }

    private static var textLimit: Int { 65_536 }

    /// Returns the status code that represents this error exactly; `nil` if the error carries more than a code.
    ///
    /// A cancelled call is always recognised by its status, because it is not a failure; its calls are omitted.
    private static func status(saying error: BackplaneError) -> Int32? {
        guard error.location == nil, error.failure == nil, error.causes.isEmpty, !error.message.isEmpty,
            error.calls.isEmpty || error.code == .callCancelled
        else {
            return nil
        }
        let statuses = [
            BP_FAILED, BP_INVALID_INPUT, BP_UNIMPLEMENTED, BP_CANCELLED, BP_DEADLINE, BP_FORBIDDEN, BP_RETIRED,
        ]
        return statuses.map { Int32($0) }.first { meaning(of: $0).0 == error.code }
    }

    private static func meaning(of status: Int32) -> (BackplaneError.Code, String) {
        switch Int(status) {
        case Int(BP_INVALID_INPUT): (.callInvalidInput, "the input does not have the type that the method expects")
        case Int(BP_UNIMPLEMENTED): (.callUnimplemented, "there is no such method")
        case Int(BP_CANCELLED): (.callCancelled, "the call was cancelled")
        case Int(BP_DEADLINE): (.callDeadline, "the call's deadline passed")
        case Int(BP_FORBIDDEN): (.roleForbidden, "the component's role may not do this")
        case Int(BP_RETIRED): (.callRetired, "the component has stopped")
        case Int(BP_FAILED): (.componentFailed, "the component failed without a reason")
        default: (.componentFailed, "the component answered with status \(status) and no reason")
        }
    }
}

extension BackplaneError {
    /// Returns the same error without causes nested more than `levels` levels deep.
    fileprivate func keepingCauses(_ levels: Int) -> BackplaneError {
        var copy = self
        copy.causes = levels == 0 ? [] : causes.map { $0.keepingCauses(levels - 1) }
        return copy
    }
}
