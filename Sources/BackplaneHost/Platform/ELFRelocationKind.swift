/// The effect of a relocation: the value that the loader writes to its location, by its number in `r_info`.
enum ELFRelocationKind: Hashable {
    /// No effect.
    case nothing
    /// The library's base and the addend.
    case relative
    /// The result of the function at the addend (`ifunc`).
    case chooser
    /// The address of a symbol and the addend, in a number of bytes.
    case address(bytes: UInt64)
    /// The size of a symbol and the addend, in a number of bytes.
    case size(bytes: UInt64)
    /// The number of the library with a thread-local variable.
    case threadLocalLibrary
    /// The offset of a thread-local variable, alone or with a function that finds it (TLSDESC).
    case threadLocalOffset(bytes: UInt64)

    /// Creates the kind with a number for a processor; returns `nil` for one that the loader refuses in a library.
    ///
    /// Copies of variables (`COPY`) occur only in programs.
    init?(_ number: UInt32, machine: UInt16 = ELFImage.machine.number) {
        let kind: Self? = machine == 62 ? .x86(number) : machine == 183 ? .arm(number) : nil
        guard let kind else { return nil }
        self = kind
    }

    private static func x86(_ number: UInt32) -> Self? {
        switch number {
        case 0: .nothing
        case 1, 6, 7, 24: .address(bytes: 8)  // 64, GLOB_DAT, JUMP_SLOT, PC64
        case 2, 10: .address(bytes: 4)  // PC32, 32
        case 8: .relative
        case 16: .threadLocalLibrary  // DTPMOD64
        case 17, 18: .threadLocalOffset(bytes: 8)  // DTPOFF64, TPOFF64
        case 32: .size(bytes: 4)
        case 33: .size(bytes: 8)
        case 36: .threadLocalOffset(bytes: 16)  // TLSDESC
        case 37: .chooser
        default: nil
        }
    }

    private static func arm(_ number: UInt32) -> Self? {
        switch number {
        case 0, 256: .nothing
        case 257, 1_025, 1_026: .address(bytes: 8)  // ABS64, GLOB_DAT, JUMP_SLOT
        case 1_027: .relative
        case 1_028: .threadLocalLibrary  // TLS_DTPMOD
        case 1_029, 1_030: .threadLocalOffset(bytes: 8)  // TLS_DTPREL, TLS_TPREL
        case 1_031: .threadLocalOffset(bytes: 16)  // TLSDESC
        case 1_032: .chooser
        default: nil
        }
    }

    /// The number of bytes written to the location.
    var bytes: UInt64 {
        switch self {
        case .nothing: 0
        case .relative, .chooser, .threadLocalLibrary: 8
        case .address(let bytes), .size(let bytes), .threadLocalOffset(let bytes): bytes
        }
    }
}
