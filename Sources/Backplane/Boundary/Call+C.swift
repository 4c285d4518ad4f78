public import CBackplane

extension Call {
    /// Lends the frame for as long as `body` runs.
    @inlinable
    package func withC<Result>(_ body: (UnsafePointer<bp_call>) -> Result) -> Result {
        withUnsafePointer(to: frame, body)
    }

    /// Copies a frame that was lent; `nil` is a call that begins here.
    package init(copying frame: UnsafePointer<bp_call>?) {
        self.init()
        if let frame { self.frame = frame.pointee }
    }
}
