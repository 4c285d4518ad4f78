/// The kind of a contract's value, as far as the consumer describes it.
package enum ContractValue: Sendable {
    /// A value of unknown type, such as any value of a consumer in C.
    case unknown
    /// `Nothing`.
    case nothing
    /// A number or a Boolean value.
    case scalar
    /// A string.
    case text
    /// Bytes, which cross as base64.
    case data
    /// A `StoredFile`.
    case file
    /// A list of values.
    case list
    /// A struct with these stored properties, in the order of their declaration.
    case structure([String])
}

/// The input and the output of a contract's method.
package struct ContractShape: Sendable {
    package var input: ContractValue
    package var output: ContractValue

    package init(input: ContractValue = .unknown, output: ContractValue = .unknown) {
        (self.input, self.output) = (input, output)
    }
}
