import CBackplane

/// The function, from JSON to JSON, of a method whose contract is known only at run time.
package typealias EncodedFunction<C> =
    nonisolated(nonsending) @Sendable (C, _ input: [UInt8], Call) async throws -> [UInt8]

/// The start of a call of an ``EncodedFunction``, as ``MethodBody/start(_:_:_:_:)``.
///
/// It is a closure rather than a ``MethodBody``, because every plugin would pay for one more conformance.
typealias EncodedStart = @Sendable (UnsafeRawPointer, bp_bytes, Call, CallEnding) -> Task<Void, Never>?

/// A method of a component that is called only in JSON.
struct EncodedCall<C: Component>: Sendable {
    let function: EncodedFunction<C>

    func start(_ context: UnsafeRawPointer, _ input: bp_bytes, _ call: Call, _ ending: CallEnding) -> Task<Void, Never>?
    {
        let bytes = input.array, held = HeldContext(raw: context)
        return NestedCalls.begin { Task.immediate { await answer(bytes, held, call, ending) } }
            ?? Task { await answer(bytes, held, call, ending) }
    }

    private nonisolated(nonsending) func answer(
        _ input: [UInt8], _ held: HeldContext, _ call: Call, _ ending: CallEnding
    ) async {
        do throws(BackplaneError) {
            let held = held.raw.assumingMemoryBound(to: Held<C>.self)
            ending.end(try await held.pointee.async(function, input, call))
        } catch {
            ending.end(error)
        }
    }
}

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
            let call = EncodedCall<C>(function: function)
            return { call.start($0, $1, $2, $3) }
        }
        records.append(
            ComponentRecord(
                type, named: className, version: pluginVersion, contract: contract, values: .undescribed,
                bodies: [], encoded: starts, wires: [], contracts: contracts, state: nil, nil, nil, services: services,
                make: make))
    }
}
