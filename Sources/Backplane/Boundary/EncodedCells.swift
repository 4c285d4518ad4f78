package import CBackplane

/// A method as ``Members`` finds it in a contract: able to make the cell of an encoded wire.
protocol EncodedMember: Callable {
    static var kind: MethodDescription.Kind { get }
    static func makeCell(_ method: EncodedMethod) -> UnsafeRawPointer
}

/// The cells of one binding, by member. They live as long as the process: bindings of a wire are few.
package struct Cells: @unchecked Sendable {      // written once, before anybody sees it
    let pointer: UnsafePointer<UnsafeRawPointer?>?

    init(_ pointer: UnsafePointer<UnsafeRawPointer?>?) { self.pointer = pointer }

    static let none = Cells(nil)

    init(of members: [(name: String, type: any EncodedMember.Type)], calling target: EncodedTarget) {
        pointer = forever(members.map { member in member.type.makeCell(EncodedMethod(name: member.name, kind: member.type.kind, target: target)) })
    }

    /// The cells of an encoded wire of contract `C`, for a host program's own.
    package init<C: Contract>(_: C.Type, calling target: EncodedTarget) {
        self.init(of: Members<C>().all, calling: target)
    }
}

/// What encoded cells call: the host's `bp_provider`, which lives as long as the process.
package struct EncodedTarget: @unchecked Sendable {      // written once, before anybody sees it
    let provider: UnsafePointer<bp_provider>

    package init(_ provider: UnsafePointer<bp_provider>) { self.provider = provider }

    func number(of name: String) -> UInt32? {
        let methods = try? Descriptors<bp_method>(provider.pointee.methods, count: provider.pointee.method_count, of: "methods")
        return methods?.firstIndex { $0.name.text == name }.map(UInt32.init)
    }
}

/// One method of an encoded wire: what its cell has for context.
struct EncodedMethod: Sendable {
    let name: String
    let target: EncodedTarget
    private let number: UInt32?

    init(name: String, kind: MethodDescription.Kind, target: EncodedTarget) {
        (self.name, self.target) = (name, target)
        number = target.number(of: name)
    }

    private func providersNumber() throws(BackplaneError) -> UInt32 {
        guard let number else { throw BackplaneError(.callUnimplemented, "the component called has no method `\(name)`") }
        return number
    }

    nonisolated(nonsending) func call(_ input: [UInt8], _ call: Call) async throws(BackplaneError) -> [UInt8] {
        let number = try providersNumber()
        let cancellation = Cancellation { [target] in target.provider.pointee.cancel(target.provider.pointee.target, $0) }
        let answer = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let id = start(number, input, call) { continuation.resume(returning: $0) }
                cancellation.began(id)
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try answer.get()
    }

    func callNow(_ input: [UInt8], _ call: Call) throws(BackplaneError) -> [UInt8] {
        let answer = Received()
        _ = start(try providersNumber(), input, call) { answer.set($0) }
        guard let answer = answer.value else {
            throw BackplaneError(.componentFailed, "`\(name)` is a synchronous method and did not answer at once")
        }
        return try answer.get()
    }

    private func start(_ number: UInt32, _ input: [UInt8], _ call: Call, _ done: @escaping @Sendable (EncodedAnswer) -> Void) -> UInt64 {
        let context = Box(done).toContext()
        return call.withC { frame in
            input.withBytes { input in
                target.provider.pointee.call(target.provider.pointee.target, number, input, frame, { context, status, payload in
                    Box<@Sendable (EncodedAnswer) -> Void>.take(context)(EncodedAnswer(status, payload))
                }, context)
            }
        }
    }
}

extension AsyncMethod: EncodedMember {
    static var kind: MethodDescription.Kind { .async }

    static func makeCell(_ method: EncodedMethod) -> UnsafeRawPointer {
        let function: AsyncFunction<Input, Output> = { (context, input, output, call) async throws(BackplaneError) -> Void in
            let method = context.assumingMemoryBound(to: EncodedMethod.self).pointee
            let answer = try await method.call(try JSON.encode(input.pointee, failing: .callInvalidInput), call.pointee)
            output.initialize(to: try JSON.decode(Output.self, answer, failing: .callInvalidOutput))
        }
        return UnsafeRawPointer(keeping: AsyncCell(function, context: UnsafeRawPointer(keeping: method)))
    }
}

extension SyncMethod: EncodedMember {
    static var kind: MethodDescription.Kind { .sync }

    static func makeCell(_ method: EncodedMethod) -> UnsafeRawPointer {
        let function: SyncFunction<Input, Output> = { (context, input, output, call) throws(BackplaneError) -> Void in
            let method = context.assumingMemoryBound(to: EncodedMethod.self).pointee
            let answer = try method.callNow(try JSON.encode(input.pointee, failing: .callInvalidInput), call.pointee)
            output.initialize(to: try JSON.decode(Output.self, answer, failing: .callInvalidOutput))
        }
        return UnsafeRawPointer(keeping: SyncCell(function, context: UnsafeRawPointer(keeping: method)))
    }
}
