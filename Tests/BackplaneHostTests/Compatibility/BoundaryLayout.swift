/// What two compilers of a header have to agree about: where everything is, how big, and of which type.
struct BoundaryLayout: Equatable {
    struct Struct: Equatable {
        var name: String
        /// In bytes.
        var size, alignment: Int
        var neverGrows = false
        var fields: [Field] = []
    }

    struct Field: Equatable {
        var name: String
        /// In bytes.
        var offset, size: Int
        /// As C spells it, without what it says of NULL.
        var type: String
    }

    /// The ABI numbers that are spoken.
    var abi: ClosedRange<Int> = 0...0
    var structs: [Struct] = []
    /// In the words of C.
    var constants: [Named] = []
    /// Functions and the types of such.
    var functions: [Named] = []

    struct Named: Equatable {
        var name, value: String
    }
}
