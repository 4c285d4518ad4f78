public import Backplane

/// What the code that is called finds around it.
public struct TaskContext: Contract {
    public static let version: Version = "1.0.0"
    public let isCancelled = AsyncMethod<Nothing, Bool>()
    public let priority = AsyncMethod<Nothing, UInt8>()
    /// The thread it begins on, and one after it has waited.
    public let threads = AsyncMethod<Nothing, [UInt]>()
    /// Waits until somebody lets go of all who wait, or it is cancelled, and answers its priority then.
    public let hold = AsyncMethod<Nothing, UInt8>()
    /// How many are held.
    public let held = SyncMethod<Nothing, Int>()
    public let letGo = SyncMethod<Nothing, Nothing>()
    /// Ends so many seconds after its deadline.
    public let outlast = SyncMethod<Double, String>()
    /// The name of the task it runs in.
    public let taskName = AsyncMethod<Nothing, String?>()
    /// A task-local of the library it is in, as its last component sees what its first one set.
    public let local = AsyncMethod<Nothing, Int>()
    public init() {}
}
