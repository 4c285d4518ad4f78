package import CBackplane
import FoundationEssentials

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
        return keptForever(AsyncCell(function: function, context: keptForever(method)))
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
        return keptForever(SyncCell(function: function, context: keptForever(method)))
    }
}

/// Moves a value to memory that is never freed.
func keptForever<Value: ~Copyable>(_ value: consuming Value) -> UnsafeRawPointer {
    UnsafeRawPointer(UnsafeMutableRawPointer(keeping: value))
}

/// A method of an encoded wire, the context of its cell.
struct EncodedMethod: Sendable {
    let name: String
    let target: EncodedTarget
    private let number: UInt32?

    init(name: String, target: EncodedTarget) {
        (self.name, self.target) = (name, target)
        number = target.number(of: name)
    }

    func providersNumber() throws(BackplaneError) -> UInt32 {
        guard let number else {
            throw BackplaneError(.callUnimplemented, "the called component has no method `\(name)`")
        }
        return number
    }

    nonisolated(nonsending) func call(_ input: Data, _ call: Call) async throws(BackplaneError) -> [UInt8] {
        let answer = PendingAnswer(), id = start(try providersNumber(), input, call, answer)
        return try await answer.wait { target.provider.pointee.cancel(target.provider.pointee.target, id) }.get()
    }

    func callNow(_ input: Data, _ call: Call) throws(BackplaneError) -> [UInt8] {
        let answer = PendingAnswer()
        _ = start(try providersNumber(), input, call, answer)
        guard let answer = answer.now else {
            throw BackplaneError(
                .componentFailed, "`\(name)` is a synchronous method but did not answer before returning")
        }
        return try answer.get()
    }

    private func start(_ number: UInt32, _ input: Data, _ call: Call, _ answer: PendingAnswer) -> UInt64 {
        call.withC { frame in
            input.withBytes { input in
                target.provider.pointee.call(
                    target.provider.pointee.target, number, input, frame, PendingAnswer.done, answer.toContext())
            }
        }
    }
}

/// The target of encoded cells: the host's `bp_provider`, which exists as long as the process.
package struct EncodedTarget: Sendable {
    private let table: ConstantPointer<bp_provider>

    package init(_ provider: UnsafePointer<bp_provider>) { table = ConstantPointer(provider) }

    package var provider: UnsafePointer<bp_provider> { table.pointer }

    func number(of name: String) -> UInt32? {
        let methods = try? Descriptors.read(
            provider.pointee.methods, count: provider.pointee.method_count, of: "methods")
        return methods?.firstIndex { $0.name.text == name }.map(UInt32.init)
    }
}

extension EncodedTarget {
    /// Creates the target for a plugin of another lane revision: through `backplane.calls/1`, as a plugin in C does.
    ///
    /// Returns `nil` if the host does not have that service.
    init?(through services: HostServices, component: UInt64, wire: UInt64, methods: [MethodDescription]) {
        guard let table = services.table(BP_CALLS, revision: 1, as: bp_calls_1.self) else { return nil }
        let streams = services.table(BP_STREAMS, revision: 1, as: bp_streams_1.self)
        let descriptors = methods.map(bp_method.init)
        let pointer = UnsafeMutablePointer<bp_provider>.allocate(capacity: 1)
        pointer.initialize(
            to: bp_provider(
                target: UnsafeMutableRawPointer(
                    keeping: ServedCalls(
                        table: table.pointer, streams: streams?.pointer, component: component, wire: wire)),
                methods: forever(descriptors), method_count: descriptors.count,
                call: { target, method, input, frame, done, context in
                    let calls = target.assumingMemoryBound(to: ServedCalls.self).pointee
                    return calls.table.pointee.call(calls.component, calls.wire, method, input, frame, done, context)
                },
                cancel: { target, id in
                    let calls = target.assumingMemoryBound(to: ServedCalls.self).pointee
                    calls.table.pointee.cancel(calls.component, id)
                },
                open: { target, method, input, frame, _, refused, context in
                    let calls = target.assumingMemoryBound(to: ServedCalls.self).pointee
                    guard let streams = calls.streams else {
                        Reply(refused, context).end(
                            BackplaneError(.callUnimplemented, "the host does not offer \(BP_STREAMS)/1"))
                        return nil
                    }
                    let number = streams.pointee.open(calls.component, calls.wire, method, input, frame)
                    return UnsafeMutableRawPointer(
                        keeping: ServedStream(table: streams, component: calls.component, number: number))
                },
                next: { stream, count, done, context in
                    let stream = stream.assumingMemoryBound(to: ServedStream.self).pointee
                    stream.table.pointee.next(stream.component, stream.number, count, done, context)
                },
                close: { stream in
                    let served = stream.assumingMemoryBound(to: ServedStream.self).pointee
                    stream.free(ServedStream.self)
                    served.table.pointee.close(served.component, served.number)
                }, opened: nil, ended: nil))
        self.init(pointer)
    }

    private struct ServedStream {
        let table: UnsafePointer<bp_streams_1>
        let component: UInt64
        let number: UInt64
    }

    private struct ServedCalls {
        let table: UnsafePointer<bp_calls_1>
        /// The host's function table for streams; `nil` if the host does not offer streams.
        let streams: UnsafePointer<bp_streams_1>?
        let component: UInt64
        let wire: UInt64
    }
}
