public import CBackplane

/// The function of a method as the method table stores it.
///
/// Native cells call the function directly, and encoded wires call it through coders.
@usableFromInline
protocol MethodBody: Sendable {
    /// Creates the cell that native wires call.
    ///
    /// `context` points to the component's ``Held``.
    func makeCell(_ context: UnsafeRawPointer) -> UnsafeMutableRawPointer
    /// Frees a cell that ``makeCell(_:)`` created and that is no longer called.
    func freeCell(_ cell: UnsafeMutableRawPointer)
    /// Decodes the input, calls the method, and encodes the answer, exactly once.
    ///
    /// A synchronous method is answered before this returns. `input` is lent for the duration of this function.
    ///
    /// - Returns: The task that performs the call; `nil` if it has answered.
    func start(_ context: UnsafeRawPointer, _ input: bp_bytes, _ call: Call, _ ending: CallEnding) -> Task<Void, Never>?
    /// Decodes the input of a stream and starts its body, whose elements cross encoded.
    ///
    /// `input` is lent for the duration of this function.
    ///
    /// - Throws: `call.invalid-input`; `call.unimplemented` if the method is not a stream.
    func open(_ context: UnsafeRawPointer, _ input: bp_bytes, _ call: Call) throws(BackplaneError) -> StreamControl
}

extension MethodBody {
    @usableFromInline
    func open(_ context: UnsafeRawPointer, _ input: bp_bytes, _ call: Call) throws(BackplaneError) -> StreamControl {
        throw BackplaneError(.callUnimplemented, "the method is not a stream; call it instead of opening it")
    }
}

@usableFromInline
struct AsyncBody<Input: Sendable, Output: Sendable>: Sendable {
    @usableFromInline let function: AsyncFunction<Input, Output>
}

extension AsyncBody: MethodBody where Input: Codable, Output: Codable {
    @inlinable @inline(__always)
    init<C: Component>(
        of _: C.Type, _ body: nonisolated(nonsending) @escaping @Sendable (C, Input, Call) async throws -> Output
    ) {
        function = { (context, input, output, call) async throws(BackplaneError) -> Void in
            let held = context.assumingMemoryBound(to: Held<C>.self)
            output.initialize(to: try await held.pointee.async(body, input.pointee, call.pointee))
        }
    }

    @usableFromInline
    func makeCell(_ context: UnsafeRawPointer) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(keeping: AsyncCell(function: function, context: context))
    }

    @usableFromInline
    func freeCell(_ cell: UnsafeMutableRawPointer) { cell.free(AsyncCell<Input, Output>.self) }

    @usableFromInline
    func start(_ context: UnsafeRawPointer, _ input: bp_bytes, _ call: Call, _ ending: CallEnding) -> Task<Void, Never>?
    {
        do throws(BackplaneError) {
            let value = try JSON.decode(Input.self, input, failing: .callInvalidInput), held = HeldContext(raw: context)
            return NestedCalls.start { await answer(value, held, call, ending) }
        } catch {
            ending.end(error)
            return nil
        }
    }

    private nonisolated(nonsending) func answer(_ value: Input, _ held: HeldContext, _ call: Call, _ ending: CallEnding)
        async
    {
        do throws(BackplaneError) {
            var value = value, call = call
            var output: Output?
            try await function(held.raw, &value, &output, &call)
            ending.end(try JSON.encodeData(output.unsafelyUnwrapped, failing: .callInvalidOutput))
        } catch {
            ending.end(error)
        }
    }
}

/// The location of a component's ``Held``.
struct HeldContext: @unchecked Sendable {  // borrowed for the duration of the call
    let raw: UnsafeRawPointer
}

@usableFromInline
struct SyncBody<Input: Sendable, Output: Sendable>: Sendable {
    @usableFromInline let function: SyncFunction<Input, Output>
}

extension SyncBody: MethodBody where Input: Codable, Output: Codable {
    @inlinable @inline(__always)
    init<C: Component>(of _: C.Type, _ body: @escaping @Sendable (C, Input, Call) throws -> Output) {
        function = { (context, input, output, call) throws(BackplaneError) -> Void in
            let held = context.assumingMemoryBound(to: Held<C>.self)
            output.initialize(to: try held.pointee.sync(body, input.pointee, call.pointee))
        }
    }

    @usableFromInline
    func makeCell(_ context: UnsafeRawPointer) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(keeping: SyncCell(function: function, context: context))
    }

    @usableFromInline
    func freeCell(_ cell: UnsafeMutableRawPointer) { cell.free(SyncCell<Input, Output>.self) }

    @usableFromInline
    func start(_ context: UnsafeRawPointer, _ input: bp_bytes, _ call: Call, _ ending: CallEnding) -> Task<Void, Never>?
    {
        do throws(BackplaneError) {
            var value = try JSON.decode(Input.self, input, failing: .callInvalidInput), call = call
            var output: Output?
            try function(context, &value, &output, &call)
            ending.end(try JSON.encodeData(output.unsafelyUnwrapped, failing: .callInvalidOutput))
        } catch {
            ending.end(error)
        }
        return nil
    }
}

/// The function, from JSON to JSON, of a method whose contract is known only at run time.
package typealias EncodedFunction<C> =
    nonisolated(nonsending) @Sendable (C, _ input: [UInt8], Call) async throws -> [UInt8]

/// The function that starts a call of an ``EncodedFunction``, like ``MethodBody/start(_:_:_:_:)``.
///
/// It is a closure rather than a ``MethodBody``, because every plugin would pay for one more conformance.
typealias EncodedStart = @Sendable (UnsafeRawPointer, bp_bytes, Call, CallEnding) -> Task<Void, Never>

extension Registrar {
    /// Adds a class whose contract is known only at run time and which is called only in JSON.
    ///
    /// - Parameters:
    ///   - type: The class, which declares neither a contract nor wires.
    ///   - className: The name of the class in manifests.
    ///   - contract: The contract; its methods are asynchronous.
    ///   - functions: The functions of the methods, in the order of the contract.
    ///   - make: A function that creates an instance from its context.
    package mutating func add<C: Component>(
        _ type: C.Type, named className: String, providing contract: ContractDescription,
        _ functions: [EncodedFunction<C>], make: @escaping @Sendable (C.Context) async throws -> C
    ) where C.Context.Owner == C, C.Provides == NoContract, C.Wires == NoWires {
        let starts = functions.map { function -> EncodedStart in
            { context, input, call, ending in
                let input = input.array, held = HeldContext(raw: context)
                return NestedCalls.start {
                    let held = held.raw.assumingMemoryBound(to: Held<C>.self)
                    do throws(BackplaneError) {
                        ending.end(try await held.pointee.async(function, input, call))
                    } catch {
                        ending.end(error)
                    }
                }
            }
        }
        records.append(
            ComponentRecord(
                type, named: className, version: pluginVersion, contract: contract, values: .undescribed,
                bodies: [], encoded: starts, wires: [], contracts: contracts, state: nil, nil, nil, services: services,
                make: make))
    }
}

/// The encoded calls that are nested on one thread.
///
/// Each of them occupies some kilobytes of the thread's stack until it suspends or ends. Components that call each
/// other a thousand levels deep would exhaust the stack and crash the process.
enum NestedCalls {
    /// The maximum number of nested calls.
    ///
    /// Every plugin counts separately, so a thread may contain this many calls of each.
    static let limit: UInt32 = 16

    /// Starts a call in a task.
    ///
    /// The task begins on the caller's thread, as a native call does, unless too many are nested there. Most bodies end
    /// there, without a thread switch.
    static func start(_ call: nonisolated(nonsending) @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        let count = bp_nested_calls()
        guard count.pointee < limit else { return Task { await call() } }
        count.pointee += 1
        defer { count.pointee -= 1 }
        return Task.immediate { await call() }
    }
}
