/// Enums that differ in one thing.
let enumPairs = [
    Pair("a case's name", Left.CaseName.self, Right.CaseName.self),
    Pair("the order of cases without payload", Left.CaseOrder.self, Right.CaseOrder.self),
    Pair("the order of cases with payload", Left.PayloadOrder.self, Right.PayloadOrder.self),
    Pair("one more case", Left.MoreCases.self, Right.MoreCases.self),
    Pair("one more case with payload", Left.MorePayloads.self, Right.MorePayloads.self),
    Pair("a payload's type", Left.PayloadType.self, Right.PayloadType.self),
    Pair("a payload and none", Left.PayloadOrNone.self, Right.PayloadOrNone.self),
    Pair("an empty payload and none", Left.EmptyPayload.self, Right.EmptyPayload.self),
    Pair("the label of a payload", Left.PayloadLabel.self, Right.PayloadLabel.self),
    Pair("a label and none", Left.PayloadLabelOrNone.self, Right.PayloadLabelOrNone.self),
    Pair("the labels of a payload in another order", Left.PayloadLabels.self, Right.PayloadLabels.self),
    Pair("one more element of a payload", Left.PayloadCount.self, Right.PayloadCount.self),
    Pair("the elements of a payload in another order", Left.PayloadElements.self, Right.PayloadElements.self),
    Pair("an indirect case", Left.IndirectCase.self, Right.IndirectCase.self),
    Pair("an indirect enum", Left.IndirectEnum.self, Right.IndirectEnum.self),
    Pair("another indirect case", Left.OtherIndirectCase.self, Right.OtherIndirectCase.self),
    Pair("the raw type", Left.RawType.self, Right.RawType.self),
    Pair("a raw type and none", Left.RawTypeOrNone.self, Right.RawTypeOrNone.self),
    Pair("an optional payload", Left.OptionalPayload.self, Right.OptionalPayload.self),
    Pair("in the type of a payload", Left.DeepPayload.self, Right.DeepPayload.self),
    Pair("in a type within the tuple of a payload", Left.DeepTuple.self, Right.DeepTuple.self),
    Pair("no case and one", Left.NoCase.self, Right.NoCase.self),
]

extension Left { enum CaseName { case new, old } }
extension Right { enum CaseName { case new, used } }

extension Left { enum CaseOrder { case new, old } }
extension Right { enum CaseOrder { case old, new } }

extension Left { enum PayloadOrder { case new(Int), old(Int) } }
extension Right { enum PayloadOrder { case old(Int), new(Int) } }

extension Left { enum MoreCases { case new, old } }
extension Right { enum MoreCases { case new, old, lost } }

extension Left { enum MorePayloads { case new(String) } }
extension Right { enum MorePayloads { case new(String), old(String) } }

extension Left { enum PayloadType { case new(Int) } }
extension Right { enum PayloadType { case new(UInt) } }

extension Left { enum PayloadOrNone { case new(Int), old(Int) } }
extension Right { enum PayloadOrNone { case new(Int), old } }

extension Left { enum EmptyPayload { case new(()) } }
extension Right { enum EmptyPayload { case new } }

extension Left { enum PayloadLabel { case new(year: Int) } }
extension Right { enum PayloadLabel { case new(month: Int) } }

extension Left { enum PayloadLabelOrNone { case new(year: Int) } }
extension Right { enum PayloadLabelOrNone { case new(Int) } }

extension Left { enum PayloadLabels { case new(year: Int, month: Int) } }
extension Right { enum PayloadLabels { case new(month: Int, year: Int) } }

extension Left { enum PayloadCount { case new(Int) } }
extension Right { enum PayloadCount { case new(Int, Int) } }

extension Left { enum PayloadElements { case new(Int, String) } }
extension Right { enum PayloadElements { case new(String, Int) } }

extension Left { enum IndirectCase { case new(Int), old(Int) } }
extension Right {
    enum IndirectCase {
        case new(Int)
        indirect case old(Int)
    }
}

extension Left { enum IndirectEnum { case new(String), old(String) } }
extension Right { indirect enum IndirectEnum { case new(String), old(String) } }

extension Left {
    enum OtherIndirectCase {
        case new(Int)
        indirect case old(Int)
    }
}
extension Right {
    enum OtherIndirectCase {
        indirect case new(Int)
        case old(Int)
    }
}

extension Left { enum RawType: Int { case new, old } }
extension Right { enum RawType: String { case new, old } }

extension Left { enum RawTypeOrNone: Int { case new, old } }
extension Right { enum RawTypeOrNone { case new, old } }

extension Left { enum OptionalPayload { case new(Bool) } }
extension Right { enum OptionalPayload { case new(Bool?) } }

extension Left { enum DeepPayload { case new(Label), old } }
extension Right { enum DeepPayload { case new(Label), old } }

extension Left { enum DeepTuple { case new(Int, label: Label), old } }
extension Right { enum DeepTuple { case new(Int, label: Label), old } }

extension Left { enum NoCase {} }
extension Right { enum NoCase { case new } }
