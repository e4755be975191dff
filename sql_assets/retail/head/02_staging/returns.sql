/* ---------------------------------------------------------------------------
   staging.returns

   Returns, keyed like staging.sales_lines so that they can be set against the
   sale: web orders carry the prefix W-, store tickets the code of the store.
   --------------------------------------------------------------------------- */
create view staging.returns
as
select
      ret.return_id
    , case ret.channel
          when 'web' then concat('W-', ret.order_ref)
          else concat(ret.store_code, '-', ret.order_ref)   -- the store on the ticket
      end                                    as order_number
    , ret.product_id
    , ret.returned_on
    , ret.quantity
    , ret.refund_amount                      as refund_amount_eur   -- the desk pays out in EUR only
    , coalesce(ret.reason_code, 'UNKNOWN')   as reason_code
from raw.returns as ret
where ret.quantity > 0;   -- corrections are booked as negative quantities
GO
