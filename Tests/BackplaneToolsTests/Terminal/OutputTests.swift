import Testing

@testable import BackplaneTools

struct OutputTests {
    @Test func `a number that JSON cannot represent is no success`() {
        // Nothing is printed, and what is said of it goes to standard error.
        Output.json(["rate": Double.infinity])
        #expect(Output.exitCode(0) == 1 && Output.exitCode(130) == 130)
    }
}
