import Synchronization

/// The objects that other SDK targets store for a component, one of each class.
package final class Attachments: Sendable {
    // An array: there are few, and a dictionary would make the runtime search every loaded image for `Hashable`.
    private let objects = Mutex<[any AnyObject & Sendable]>([])

    /// Returns the object of a class, which is created when it is first requested.
    package func object<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
        objects.withLock { objects in
            for object in objects where type(of: object) == Object.self { return object as! Object }  // just compared
            let new = make()
            objects.append(new)
            return new
        }
    }
}
