import CBackplane
import Synchronization

extension UnsafeMutableRawPointer {
    /// Moves a value to its own memory.
    init<Value: ~Copyable>(keeping value: consuming Value) {
        let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        pointer.initialize(to: value)
        self.init(pointer)
    }

    /// Destroys a value that `init(keeping:)` moved here, and frees its memory.
    func free<Value: ~Copyable>(_: Value.Type) {
        let pointer = assumingMemoryBound(to: Value.self)
        pointer.deinitialize(count: 1)
        pointer.deallocate()
    }
}

/// A lazily created text that lives as long as the process.
final class KeptText: Sendable {
    private let make: @Sendable () -> String
    private let made = Mutex<ConstantPointer<bp_bytes>?>(nil)

    init(_ make: @escaping @Sendable () -> String) { self.make = make }

    var bytes: bp_bytes {
        made.withLock { made in
            if let made { return made.pointer.pointee }
            let new = ConstantPointer(forever([bp_bytes.forever(make())])!)
            made = new
            return new.pointer.pointee
        }
    }
}
