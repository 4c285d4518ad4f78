public import CBackplane

extension Call {
    /// Lends the frame for the duration of `body`.
    @inlinable
    package func withC<Result>(_ body: (UnsafePointer<bp_call>) -> Result) -> Result {
        withUnsafePointer(to: frame, body)
    }

    /// Copies a borrowed frame; `nil` begins a new call.
    package init(copying frame: UnsafePointer<bp_call>?) {
        self.init()
        if let frame { self.frame = frame.pointee }
    }
}
