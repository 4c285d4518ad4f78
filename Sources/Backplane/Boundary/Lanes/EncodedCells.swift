/// A method as ``Members`` finds it in a contract, which can create encoded cells and bodies that only throw errors.
protocol EncodedMember: Sendable {
    static var kind: MethodKind { get }
    /// The types of the input and of the output or, for a stream, of the element.
    static var types: (input: any Codable.Type, output: any Codable.Type) { get }
    static func makeCell(_ method: EncodedMethod) -> UnsafeRawPointer
    static func makeBody(throwing error: BackplaneError) -> any MethodBody
}

extension AsyncMethod: EncodedMember where Input: Codable, Output: Codable {
    static var kind: MethodKind { .async }
    static var types: (input: any Codable.Type, output: any Codable.Type) { (Input.self, Output.self) }

    static func makeCell(_ method: EncodedMethod) -> UnsafeRawPointer {
        let function: AsyncFunction<Input, Output> = {
            (context, input, output, call) async throws(BackplaneError) -> Void in
            let method = context.assumingMemoryBound(to: EncodedMethod.self).pointee
            let answer = try await method.call(
                try JSON.encodeData(input.pointee, failing: .callInvalidInput), call.pointee)
            output.initialize(to: try JSON.decode(Output.self, answer, failing: .callInvalidOutput))
        }
        return keptForever(AsyncCell(function, context: keptForever(method)))
    }
}

extension SyncMethod: EncodedMember where Input: Codable, Output: Codable {
    static var kind: MethodKind { .sync }
    static var types: (input: any Codable.Type, output: any Codable.Type) { (Input.self, Output.self) }

    static func makeCell(_ method: EncodedMethod) -> UnsafeRawPointer {
        let function: SyncFunction<Input, Output> = { (context, input, output, call) throws(BackplaneError) -> Void in
            let method = context.assumingMemoryBound(to: EncodedMethod.self).pointee
            let answer = try method.callNow(
                try JSON.encodeData(input.pointee, failing: .callInvalidInput), call.pointee)
            output.initialize(to: try JSON.decode(Output.self, answer, failing: .callInvalidOutput))
        }
        return keptForever(SyncCell(function, context: keptForever(method)))
    }
}

/// Moves a value to memory that is never freed.
func keptForever<Value: ~Copyable>(_ value: consuming Value) -> UnsafeRawPointer {
    UnsafeRawPointer(UnsafeMutableRawPointer(keeping: value))
}
